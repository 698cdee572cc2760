package workspace

import (
	"fmt"
	"regexp"
)

// Session names a session: its name among those of its tenant, whose sessions nobody else's can meet.
type Session struct {
	Tenant string
	Name   string
}

// String is the session for messages, which go to its tenant alone.
func (s Session) String() string { return fmt.Sprintf("session %.80q", s.Name) }

var plainName = regexp.MustCompile(`^[a-zA-Z0-9_.-]{1,64}$`)

// CheckName tells what is wrong with a session's name.
func CheckName(name string) error {
	if !plainName.MatchString(name) {
		return fmt.Errorf("session %.80q: want up to 64 letters, digits, '-', '_' and '.'", name)
	}
	return nil
}
