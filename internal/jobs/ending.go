package jobs

import (
	"encoding/json"
	"fmt"

	"github.com/sandloop/sandloop/internal/grade"
	"github.com/sandloop/sandloop/internal/sandbox"
	"github.com/sandloop/sandloop/internal/workspace"
)

// ending is what became of a job, as it is stored. Jobs that are not judged have no Grade and those of no
// session no Session.
type ending struct {
	sandbox.Result
	Grade   *grade.Report     `json:"grade,omitempty"`
	Session *workspace.Report `json:"session,omitempty"`
}

// storable encodes an ending. What cannot be stored as it is loses what it can do without, or
// becomes a result that says so: trying again would never end.
func (e ending) storable() (ending, []byte) {
	plain, err := json.Marshal(e)
	if err == nil && e.Grade != nil && len(plain) > maxReport {
		e.Grade = withoutOutputs(*e.Grade)
		plain, err = json.Marshal(e)
	}
	if err == nil && e.Session != nil && len(plain) > maxSessionReport {
		e.Session = bounded(e.Session)
		plain, err = json.Marshal(e)
	}
	if err != nil { // such as an infinite score
		e = ending{Result: ourResult(sandbox.OutcomeRejected, fmt.Sprintf("the result cannot be written in JSON: %v", err))}
		plain, _ = json.Marshal(e) // a struct of plain fields always encodes
	}
	return e, pack(plain)
}

// sealEnding makes of a packed ending what is stored for a job.
func (s *store) sealEnding(id string, packed []byte) []byte {
	return s.seals.Seal(s.keys.result(id), packed)
}

// openEnding reads what is stored for a job.
func (s *store) openEnding(id, stored string) (ending, error) {
	packed, err := s.seals.Open(s.keys.result(id), []byte(stored))
	if err != nil {
		return ending{}, fmt.Errorf("%w of job %s: %w", errUnreadable, id, hintSeal(err))
	}
	return decodeEnding(id, packed)
}

func decodeEnding(id string, packed []byte) (e ending, err error) {
	plain, err := unpack(packed)
	if err != nil {
		return ending{}, fmt.Errorf("%w of job %s: %w", errUnreadable, id, err)
	}
	if err := json.Unmarshal(plain, &e); err != nil {
		return ending{}, fmt.Errorf("%w of job %s: %w", errUnreadable, id, err)
	}
	return e, nil
}
