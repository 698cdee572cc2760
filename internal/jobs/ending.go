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
func (e ending) storable() (ending, []byte) { return e.storableWithin(maxEnding) }

// storableWithin is storable where an ending can have so many bytes of JSON.
func (e ending) storableWithin(most int) (ending, []byte) {
	plain, err := json.Marshal(e)
	if err == nil && e.Grade != nil && len(plain) > maxReport {
		e.Grade = withoutOutputs(*e.Grade)
		plain, err = json.Marshal(e)
	}
	if err == nil && e.Session != nil && len(plain) > maxSessionReport {
		e.Session = bounded(e.Session)
		plain, err = json.Marshal(e)
	}
	if err == nil && len(plain) > most {
		e.Result = withoutContents(e.Result, len(plain), most)
		plain, err = json.Marshal(e)
	}
	if err == nil && len(plain) > most { // such as a report on millions of groups
		err = fmt.Errorf("%d bytes are too many: want at most %d", len(plain), most)
	}
	if err != nil { // such as an infinite score
		e = ending{Result: ourResult(sandbox.OutcomeRejected, fmt.Sprintf("the result cannot be written in JSON: %v", err))}
		plain, _ = json.Marshal(e) // a struct of plain fields always encodes
	}
	return e, pack(plain)
}

// withoutContents is the result, of size bytes, without what the program wrote.
func withoutContents(r sandbox.Result, size, most int) sandbox.Result {
	dropped := func(s sandbox.Stream) sandbox.Stream {
		return sandbox.Stream{Data: sandbox.Bytes{}, Total: s.Total, Truncated: s.Total > 0}
	}
	r.Stdout, r.Stderr, r.Files = dropped(r.Stdout), dropped(r.Stderr), nil
	if r.Compile != nil {
		compile := *r.Compile
		compile.Stdout, compile.Stderr = dropped(compile.Stdout), dropped(compile.Stderr)
		r.Compile = &compile
	}
	if r.Message != "" {
		r.Message += "; "
	}
	r.Message += fmt.Sprintf("outputs and files are not kept, since the result is %d bytes with them: at most %d are kept", size, most)
	return r
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
	plain, err := resultContent.unpack(packed)
	if err != nil {
		return ending{}, fmt.Errorf("%w of job %s: %w", errUnreadable, id, err)
	}
	if err := resultContent.checkBulk(plain); err != nil {
		return ending{}, fmt.Errorf("%w of job %s: %w", errUnreadable, id, err)
	}
	if err := json.Unmarshal(plain, &e); err != nil {
		return ending{}, fmt.Errorf("%w of job %s: %w", errUnreadable, id, err)
	}
	return e, nil
}
