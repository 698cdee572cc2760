package workspace

import (
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
)

// DefaultPrefix starts every key of ours unless the operator says otherwise.
const DefaultPrefix = "sandloop"

// keys names what is a session's in Redis. The keys of one session share a hash tag, so that a script
// can touch all of them in a Redis Cluster. A tenant can have any name, so it is a hash that goes into keys.
type keys struct{ prefix string }

func digest(text string) string {
	sum := sha256.Sum256([]byte(text))
	return hex.EncodeToString(sum[:16])
}

func (k keys) of(s Session) string {
	return k.prefix + ":session:{" + digest(s.Tenant+"\x00"+s.Name) + "}"
}

// head is a hash, lease a string that expires with the lease, and files the archive.
func (k keys) head(s Session) string  { return k.of(s) + ":head" }
func (k keys) lease(s Session) string { return k.of(s) + ":lease" }
func (k keys) files(s Session) string { return k.of(s) + ":files" }

// session lists the keys in the order in which every script of this package expects them.
func (k keys) session(s Session) []string { return []string{k.head(s), k.lease(s), k.files(s)} }

// part is an archive on its way in.
func (k keys) part(s Session, token string) string { return k.of(s) + ":part:" + token }

// result is what a job stored with its commit.
func (k keys) result(s Session, job string) string { return k.of(s) + ":job:" + job }

// freeChannel hears of the end of a lease.
func (k keys) freeChannel(s Session) string { return k.of(s) + ":free" }

// index is a sorted set of the names of a tenant's sessions, by the time at which they expire.
func (k keys) index(tenant string) string { return k.prefix + ":sessions:" + digest(tenant) }

// newToken makes a value that nobody else has.
func newToken() string {
	token := make([]byte, 12)
	_, _ = rand.Read(token) // never returns an error, see crypto/rand
	return hex.EncodeToString(token)
}
