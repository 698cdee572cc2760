package admin

import (
	"crypto/sha256"
	"encoding/base64"
	"net/http"
)

// noContent is a policy under which a browser loads and runs nothing.
const noContent = "default-src 'none'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"

// careful sets the headers that every answer has; whoever answers may set another policy.
func careful(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		header := w.Header()
		header.Set("Content-Security-Policy", noContent)          // a name that became markup runs no script
		header.Set("X-Content-Type-Options", "nosniff")           // text stays text
		header.Set("X-Frame-Options", "DENY")                     // no other page can lay itself over this one
		header.Set("Referrer-Policy", "no-referrer")              // no other server learns a name from a link
		header.Set("Cache-Control", "no-store")                   // nothing stays in a browser after its user has left
		header.Set("Cross-Origin-Resource-Policy", "same-origin") // no other page can read this with its user's password
		next.ServeHTTP(w, r)
	})
}

// allowed is the source expression that allows exactly one inline script or style.
func allowed(text string) string {
	hash := sha256.Sum256([]byte(text))
	return "'sha256-" + base64.StdEncoding.EncodeToString(hash[:]) + "'"
}
