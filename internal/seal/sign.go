package seal

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"fmt"
	"strings"
)

var (
	// ErrUnsigned means that there is no signature.
	ErrUnsigned = errors.New("it is not signed")
	// ErrForged means that a signature is not of what it stands beside.
	ErrForged = errors.New("its signature does not fit: it was changed after it was signed, or signed as another")
	// ErrUnknownKey means that something was signed or sealed with a key that is not among those here.
	ErrUnknownKey = errors.New("is not among the keys here")
)

// Sign returns a signature of a body and of parts in this order, HMAC-SHA256 under the first key with that key's id before it.
// The purpose keeps signatures of different things apart. A nil *Keys signs nothing.
func (k *Keys) Sign(purpose string, body []byte, parts ...string) string {
	if k == nil {
		return ""
	}
	return hex.EncodeToString(k.keys[0].id[:]) + ":" + hex.EncodeToString(k.keys[0].mac(purpose, body, parts))
}

// Verify tells whether a signature is that of the body and the parts, by any of the keys. The error is ErrUnsigned, ErrUnknownKey or
// ErrForged. A nil *Keys takes whatever comes.
func (k *Keys) Verify(signature, purpose string, body []byte, parts ...string) error {
	switch {
	case k == nil:
		return nil
	case signature == "":
		return ErrUnsigned
	}
	name, code, _ := strings.Cut(signature, ":")
	id, err := hex.DecodeString(name)
	if err != nil || len(id) != idBytes {
		return ErrForged
	}
	signer := k.find(id)
	if signer == nil {
		return fmt.Errorf("it is signed with the key %x, which %w", id, ErrUnknownKey)
	}
	mac, err := hex.DecodeString(code)
	if err != nil || !hmac.Equal(mac, signer.mac(purpose, body, parts)) {
		return ErrForged
	}
	return nil
}

// Digests returns for a text what only holders of a key can work out, under each key, the one in use first.
func (k *Keys) Digests(purpose, text string) []string {
	if k == nil {
		return nil
	}
	digests := make([]string, len(k.keys))
	for i, key := range k.keys {
		digests[i] = hex.EncodeToString(key.mac(purpose, []byte(text), nil)[:sha256.Size/2])
	}
	return digests
}

// mac puts the length before each part, so that no two lists of parts and a body have the same.
func (k *key) mac(purpose string, body []byte, parts []string) []byte {
	code := hmac.New(sha256.New, derive(k.secret, "sign "+purpose, sha256.Size))
	for _, part := range parts {
		_, _ = code.Write(binary.BigEndian.AppendUint64(nil, uint64(len(part)))) // a hash takes everything
		_, _ = code.Write([]byte(part))
	}
	_, _ = code.Write(body)
	return code.Sum(nil)
}
