package mcp

import (
	"crypto/sha256"
	"crypto/subtle"
	"errors"
	"fmt"
	"net/http"
	"strings"
)

// leastToken is the length below which a token can be guessed.
const leastToken = 16

// Token is a secret that requests must bear. It is kept as a hash, so no log can show it.
type Token struct{ hash [sha256.Size]byte }

// ParseToken makes a token of text, without the space around it that files end with.
func ParseToken(text string) (*Token, error) {
	text = strings.TrimSpace(text)
	for _, r := range text {
		if r <= ' ' || r > '~' {
			return nil, errors.New("a token is one word of visible ASCII characters")
		}
	}
	if len(text) < leastToken {
		return nil, fmt.Errorf("a token has at least %d characters, this one has %d", leastToken, len(text))
	}
	return &Token{sha256.Sum256([]byte(text))}, nil
}

// borneBy compares hashes, in constant time, so that how long it takes tells nothing about the token.
func (t *Token) borneBy(r *http.Request) bool {
	scheme, text, _ := strings.Cut(r.Header.Get("Authorization"), " ")
	hash := sha256.Sum256([]byte(strings.TrimSpace(text)))
	return strings.EqualFold(scheme, "Bearer") && subtle.ConstantTimeCompare(hash[:], t.hash[:]) == 1
}
