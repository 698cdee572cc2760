package agent

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
)

// transcriptVersion is that of the form in which a transcript is kept.
const transcriptVersion = 1

// kept is a transcript in a file.
type kept struct {
	Version int `json:"version"`
	Transcript
}

// Save writes the transcript as JSON to a file that only its owner can read. A file that is there is replaced
// as a whole or not at all.
func (t *Transcript) Save(path string) error {
	data, err := json.MarshalIndent(kept{transcriptVersion, *t}, "", "  ")
	if err != nil {
		return fmt.Errorf("encode transcript: %w", err)
	}
	file, err := os.CreateTemp(filepath.Dir(path), ".transcript-*")
	if err != nil {
		return fmt.Errorf("write transcript: %w", err)
	}
	_, err = file.Write(append(data, '\n'))
	if err = errors.Join(err, file.Sync(), file.Close()); err == nil {
		err = os.Rename(file.Name(), path)
	}
	if err != nil {
		return errors.Join(fmt.Errorf("write transcript %s: %w", path, err), os.Remove(file.Name()))
	}
	return nil
}

// LoadTranscript reads what Save wrote. A file that is not a transcript, or one of another version, is an error
// that says so.
func LoadTranscript(path string) (*Transcript, error) {
	data, err := os.ReadFile(path) //nolint:gosec // the user names the file
	var problem *fs.PathError
	if errors.As(err, &problem) {
		err = problem.Err
	}
	if err != nil {
		return nil, fmt.Errorf("read transcript %s: %w", path, err)
	}
	var version struct {
		Version int `json:"version"`
	}
	if err := json.Unmarshal(data, &version); err != nil {
		return nil, fmt.Errorf("transcript %s: %w", path, err)
	}
	if version.Version != transcriptVersion {
		return nil, fmt.Errorf("transcript %s: version %d is not known: want %d", path, version.Version, transcriptVersion)
	}
	decoder := json.NewDecoder(bytes.NewReader(data))
	decoder.DisallowUnknownFields()
	var k kept
	if err := decoder.Decode(&k); err != nil {
		return nil, fmt.Errorf("transcript %s: %w", path, err)
	}
	return &k.Transcript, k.check(path)
}

// check refuses what no run would have written and no provider would accept: calls without their results.
func (t *Transcript) check(path string) error {
	for i, m := range t.Messages {
		switch {
		case m.Role != RoleUser && m.Role != RoleAssistant && m.Role != RoleTool:
			return fmt.Errorf("transcript %s: messages[%d].role: %q is not known: want user, assistant or tool", path, i, m.Role)
		case m.Role == RoleTool && !answers(t.Messages[:i], m.Results):
			return fmt.Errorf("transcript %s: messages[%d].results: do not answer the calls of the message before", path, i)
		case len(m.Calls) > 0 && i+1 < len(t.Messages) && t.Messages[i+1].Role != RoleTool:
			return fmt.Errorf("transcript %s: messages[%d].calls: have no results in the message after", path, i)
		}
	}
	return nil
}

func answers(before []Message, results []ToolResult) bool {
	if len(before) == 0 || len(before[len(before)-1].Calls) != len(results) {
		return false
	}
	for i, call := range before[len(before)-1].Calls {
		if call.ID != results[i].CallID {
			return false
		}
	}
	return true
}
