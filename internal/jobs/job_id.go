package jobs

import (
	"crypto/rand"
	"crypto/sha256"
	"encoding/base32"
	"encoding/hex"
	"strconv"
	"strings"

	"github.com/oklog/ulid/v2"
)

var lowerBase32 = base32.NewEncoding("abcdefghijklmnopqrstuvwxyz234567").WithPadding(base32.NoPadding)

// KeyedID is the id of the job of a tenant's idempotency key: the same for the same
// two, so that a repeated submission needs no lookup.
func KeyedID(tenant, key string) string {
	sum := sha256.Sum256([]byte(tenant + "\x00" + key))
	return "k" + lowerBase32.EncodeToString(sum[:])[:26]
}

// tenantBatch makes the name of a batch, Program.Reuse, one of the tenant's own: the programs
// of two tenants must never run in the same container, whatever names they give.
func tenantBatch(tenant, name string) string {
	if name == "" {
		return ""
	}
	return "b" + KeyedID(tenant, name)[1:]
}

// newID makes an id that sorts by time.
func newID() string { return ulid.Make().String() }

// newToken makes a value that nobody else has.
func newToken() string {
	token := make([]byte, 8)
	_, _ = rand.Read(token) // never returns an error, see crypto/rand
	return hex.EncodeToString(token)
}

// ref names one dispatch of a job: its id as an asynq task and in a worker's running set.
type ref struct {
	ID       string `json:"id"`
	Dispatch int    `json:"dispatch"`
}

func (r ref) String() string { return r.ID + ":" + strconv.Itoa(r.Dispatch) }

// renewed is the dispatch of the job that a script numbered.
func (r ref) renewed(dispatch string) ref {
	r.Dispatch, _ = strconv.Atoi(dispatch)
	return r
}

// parseRef reads what String writes.
func parseRef(s string) (ref, bool) {
	id, number, found := strings.Cut(s, ":")
	dispatch, err := strconv.Atoi(number)
	return ref{ID: id, Dispatch: dispatch}, found && err == nil && validName(id, maxIDBytes)
}

// validName accepts what is safe in a Redis key's hash tag, a container's name and a label.
func validName(name string, limit int) bool {
	if name == "" || len(name) > limit {
		return false
	}
	for _, r := range name {
		letter := r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9'
		if !letter && r != '-' && r != '_' && r != '.' {
			return false
		}
	}
	return true
}
