package admin

import (
	"crypto/sha256"
	"crypto/subtle"
	"net/http"
	"strings"
)

// lock opens to who bears the token. It keeps a hash, so nothing can show the token.
type lock struct {
	hash [sha256.Size]byte
	// none means that there is no token, and that it never opens.
	none bool
}

func newLock(token string) *lock {
	return &lock{hash: sha256.Sum256([]byte(token)), none: token == ""}
}

// guard lets a request through that bears the token.
func (l *lock) guard(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch {
		case l.none:
			http.Error(w, "this is only served where admin.token or admin.token_file is set", http.StatusForbidden)
		case !l.opens(r):
			w.Header().Set("WWW-Authenticate", `Basic realm="sandloop", charset="UTF-8"`)
			http.Error(w, "this wants admin.token: as a bearer token, or as the password of any user", http.StatusUnauthorized)
		default:
			next.ServeHTTP(w, r)
		}
	})
}

// opens compares hashes, in constant time, so that how long it takes tells nothing about the token.
func (l *lock) opens(r *http.Request) bool {
	_, token, basic := r.BasicAuth()
	if !basic {
		scheme, rest, _ := strings.Cut(r.Header.Get("Authorization"), " ")
		if !strings.EqualFold(scheme, "Bearer") {
			return false
		}
		token = strings.TrimSpace(rest)
	}
	hash := sha256.Sum256([]byte(token))
	return subtle.ConstantTimeCompare(hash[:], l.hash[:]) == 1
}
