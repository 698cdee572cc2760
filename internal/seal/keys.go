package seal

import (
	"bytes"
	"crypto/hkdf"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
)

const (
	// MinKey is the length in bytes of the shortest key.
	MinKey = 32
	// maxFile bounds a file of keys in bytes, so that a device named by mistake cannot take all memory.
	maxFile = 64 << 10
)

// Keys are the keys of one file. The first signs and seals; all of them verify and open, so that a key is
// replaced by putting a new one before it. They are safe for concurrent use. A nil *Keys is no keys at all.
type Keys struct{ keys []key }

type key struct {
	id     [idBytes]byte
	secret []byte
}

// idBytes is the length of a key's id, which tells keys apart and tells nothing of a key.
const idBytes = 4

// ReadKeys reads keys from a file, one on each line. Empty lines and those that begin with # are skipped. A file that
// others can read, or that the group can write, is refused.
func ReadKeys(path string) (*Keys, error) {
	file, err := os.Open(path) //nolint:gosec // the operator names it
	if err != nil {
		return nil, err
	}
	defer func() { _ = file.Close() }()
	info, err := file.Stat()
	if err != nil {
		return nil, err
	}
	switch mode := info.Mode(); {
	case !mode.IsRegular():
		return nil, fmt.Errorf("%s is no plain file", path)
	case mode.Perm()&0o027 != 0:
		return nil, fmt.Errorf("%s has the mode %#o: want 0600, or at most 0640: nobody but its owner and group may read it", path, mode.Perm())
	}
	content, err := io.ReadAll(io.LimitReader(file, maxFile+1))
	if err != nil {
		return nil, err
	}
	if len(content) > maxFile {
		return nil, fmt.Errorf("%s is too large: want at most %d bytes", path, maxFile)
	}
	keys, err := ParseKeys(content)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	return keys, nil
}

// ReadOptional is ReadKeys for a setting: no path is no keys, and an error names the setting.
func ReadOptional(setting, path string) (*Keys, error) {
	if path == "" {
		return nil, nil
	}
	keys, err := ReadKeys(path)
	var missing *fs.PathError
	if errors.As(err, &missing) {
		return nil, fmt.Errorf("%s: %w: make one with: (umask 077; openssl rand -base64 48 >FILE)", setting, err)
	}
	if err != nil {
		return nil, fmt.Errorf("%s: %w", setting, err)
	}
	return keys, nil
}

// ParseKeys reads the content of a file of keys. No error shows a key.
func ParseKeys(content []byte) (*Keys, error) {
	k := &Keys{}
	number := 0
	for line := range bytes.Lines(content) {
		number++
		secret := bytes.TrimSpace(line)
		if len(secret) == 0 || secret[0] == '#' {
			continue
		}
		if len(secret) < MinKey {
			return nil, fmt.Errorf("the key in line %d is %d bytes: want at least %d random ones", number, len(secret), MinKey)
		}
		next := key{secret: derive(secret, "sandloop", sha256.Size)}
		copy(next.id[:], derive(next.secret, "id", idBytes))
		if k.find(next.id[:]) != nil {
			return nil, fmt.Errorf("the key in line %d is there twice, or has the id %x of another: want one that is new", number, next.id)
		}
		k.keys = append(k.keys, next)
	}
	if len(k.keys) == 0 {
		return nil, errors.New("holds no key: want one on each line")
	}
	return k, nil
}

// IDs lists the ids of the keys, the one in use first. They are no secret.
func (k *Keys) IDs() []string {
	if k == nil {
		return nil
	}
	ids := make([]string, len(k.keys))
	for i, key := range k.keys {
		ids[i] = hex.EncodeToString(key.id[:])
	}
	return ids
}

// find returns the key with an id, or nil.
func (k *Keys) find(id []byte) *key {
	if k == nil {
		return nil
	}
	for i := range k.keys {
		if bytes.Equal(k.keys[i].id[:], id) {
			return &k.keys[i]
		}
	}
	return nil
}

// derive makes of a secret one for a single purpose.
func derive(secret []byte, purpose string, length int) []byte {
	derived, err := hkdf.Key(sha256.New, secret, nil, purpose, length)
	if err != nil {
		panic(err) // only for lengths above 8160 bytes
	}
	return derived
}
