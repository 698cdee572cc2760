package seal

import (
	"crypto/aes"
	"crypto/cipher"
	"crypto/rand"
	"crypto/sha256"
	"errors"
	"fmt"
)

// A sealed value is the mark, the id of the key, a nonce and what AES-256-GCM made of the plain value.
const (
	// Mark is the first byte of whatever is sealed. What can be stored plain or sealed must never begin with it when plain.
	Mark byte = 's'

	nonceBytes  = 12
	headerBytes = 1 + idBytes
	// Overhead is by how many bytes a sealed value is longer.
	Overhead = headerBytes + nonceBytes + 16
)

var (
	// ErrTampered means that a sealed value was changed, cut, or moved from the place that it was sealed for.
	ErrTampered = errors.New("the sealed value is damaged or was put in the place of another")
	// ErrNotSealed means that a value is plain where all values have to be sealed.
	ErrNotSealed = errors.New("it is not sealed: it was stored before there was a key, or by somebody who has none")
)

// Sealed tells whether a value is sealed.
func Sealed(value []byte) bool { return len(value) > 0 && value[0] == Mark }

// Seal encrypts a value under the first key for the place that it will lie in, such as the name of a key of Redis: it can be opened as that of this
// place alone. Every place has a key of its own, so that random nonces never come near their bound. A nil *Keys returns the value as it is.
func (k *Keys) Seal(place string, value []byte) []byte {
	if k == nil {
		return value
	}
	sealed := make([]byte, headerBytes+nonceBytes, Overhead+len(value))
	sealed[0] = Mark
	copy(sealed[1:], k.keys[0].id[:])
	nonce := sealed[headerBytes:]
	_, _ = rand.Read(nonce) // never returns an error, see crypto/rand
	return k.keys[0].gcm(place).Seal(sealed, nonce, value, associated(sealed[:headerBytes], place))
}

// Open returns a value as it was before Seal. A plain value is refused, since anybody can write one; only a nil *Keys returns it
// as it is. The error is ErrUnknownKey, ErrTampered or ErrNotSealed.
func (k *Keys) Open(place string, value []byte) ([]byte, error) {
	switch {
	case !Sealed(value) && k == nil:
		return value, nil
	case !Sealed(value):
		return nil, ErrNotSealed
	case len(value) < Overhead:
		return nil, ErrTampered
	}
	id := value[1:headerBytes]
	opener := k.find(id)
	if opener == nil {
		return nil, fmt.Errorf("it is sealed with the key %x, which %w", id, ErrUnknownKey)
	}
	nonce := value[headerBytes : headerBytes+nonceBytes]
	plain, err := opener.gcm(place).Open(nil, nonce, value[headerBytes+nonceBytes:], associated(value[:headerBytes], place))
	if err != nil {
		return nil, ErrTampered
	}
	return plain, nil
}

// associated is what is authenticated beside the value.
func associated(header []byte, place string) []byte {
	return append(append(make([]byte, 0, len(header)+len(place)), header...), place...)
}

func (k *key) gcm(place string) cipher.AEAD {
	block, err := aes.NewCipher(derive(k.secret, "seal "+place, sha256.Size))
	if err != nil {
		panic(err) // only for keys of a length that AES does not have
	}
	aead, err := cipher.NewGCM(block)
	if err != nil {
		panic(err) // only for ciphers with other blocks than those of AES
	}
	return aead
}
