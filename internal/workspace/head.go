package workspace

import (
	"strconv"
	"time"
)

// Head is what is known of a session without its files.
type Head struct {
	Name   string `json:"name"`
	Tenant string `json:"tenant,omitempty"`
	// Version grows by one with each change of the files; 0 is none yet.
	Version int64 `json:"version"`
	// Files is their number, Bytes their size together, and StoredBytes that of the archive.
	Files       int   `json:"files"`
	Bytes       int64 `json:"bytes"`
	StoredBytes int64 `json:"stored_bytes"`
	// CreatedAt, UsedAt and ExpiresAt are by the clock of Redis.
	CreatedAt time.Time `json:"created_at"`
	UsedAt    time.Time `json:"used_at"`
	ExpiresAt time.Time `json:"expires_at"`
	// Busy is who has the session at the moment, nil for nobody.
	Busy *User `json:"busy,omitempty"`
	// Live is who holds the live interpreter, nil for nobody; LiveEnded is then why the last one ended, empty if there
	// was none.
	Live      *Holder `json:"live,omitempty"`
	LiveEnded string  `json:"live_ended,omitempty"`

	// fence is the number of the newest lease; stamp changes with the files.
	fence int64
	stamp string
}

// User is who holds the lease of a session.
type User struct {
	Owner string `json:"owner"`
	Job   string `json:"job"`
}

// Holder is a live interpreter.
type Holder struct {
	// Worker is the id of the worker that has it.
	Worker string `json:"worker"`
	// Language is the interpreter's, Nonce tells this one from every other.
	Language string `json:"language"`
	Nonce    string `json:"nonce"`
	// Since is when it became the session's; Hold sets it.
	Since time.Time `json:"since"`
}

// newHead reads the fields of a head.
func newHead(s Session, fields map[string]string) Head {
	number := func(name string) int64 { n, _ := strconv.ParseInt(fields[name], 10, 64); return n }
	moment := func(name string) time.Time { return time.UnixMilli(number(name)).UTC() }
	head := Head{
		Name: s.Name, Tenant: s.Tenant, Version: number("version"),
		Files: int(number("count")), Bytes: number("bytes"), StoredBytes: number("stored"),
		CreatedAt: moment("created"), UsedAt: moment("used"),
		LiveEnded: fields["live_ended"], fence: number("fence"), stamp: fields["stamp"],
	}
	if fields["live_nonce"] != "" {
		head.Live = &Holder{
			Worker: fields["live_worker"], Language: fields["live_language"],
			Nonce: fields["live_nonce"], Since: moment("live_since"),
		}
	}
	return head
}
