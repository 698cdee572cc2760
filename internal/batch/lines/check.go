package lines

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"hash/maphash"
	"io"
	"slices"
	"strings"

	"github.com/sandloop/sandloop/internal/batch"
)

// mostProblems is how many problems are told; the rest is counted.
const mostProblems = 20

// ProblemsError tells what is wrong with the lines of a batch.
type ProblemsError struct {
	// Problems are the first, each of which names its line; Lines is how many lines are wrong.
	Problems []error
	Lines    int
}

// Error has a line for each problem.
func (e *ProblemsError) Error() string {
	text := make([]string, 0, len(e.Problems)+1)
	for _, problem := range e.Problems {
		text = append(text, strings.ReplaceAll(problem.Error(), "\n", "; "))
	}
	if more := e.Lines - len(e.Problems); more > 0 {
		text = append(text, fmt.Sprintf("and %d more lines are wrong", more))
	}
	return strings.Join(text, "\n")
}

// Unwrap returns the problems.
func (e *ProblemsError) Unwrap() []error { return e.Problems }

func (e *ProblemsError) add(err error) {
	e.Lines++
	if len(e.Problems) < mostProblems {
		e.Problems = append(e.Problems, err)
	}
}

// Check reads a whole batch and returns how many entries it has. It calls each, if not nil, with those that are
// right, and ends at its first error. If lines are wrong the error is a [*ProblemsError].
func (s *Settings) Check(ctx context.Context, file io.ReaderAt, each func(index int, entry batch.Entry) error) (int, error) {
	problems, seed, count := &ProblemsError{}, maphash.MakeSeed(), 0
	var ids []uint64
	for l, err := range scan(whole(file), s.lineLimit()) {
		if err == nil {
			err = ctx.Err()
		}
		if err != nil {
			return 0, err
		}
		entry, err := s.read(l)
		if entry.ID != "" {
			ids = append(ids, maphash.String(seed, entry.ID))
		}
		switch {
		case err != nil:
			problems.add(err)
		case each != nil:
			if err := each(count, entry); err != nil {
				return 0, err
			}
		}
		count++
	}
	slices.Sort(ids)
	if repeated := repeats(ids); len(repeated) > 0 {
		if err := s.findRepeats(file, seed, repeated, problems); err != nil {
			return 0, err
		}
	}
	switch {
	case problems.Lines > 0:
		return 0, problems
	case count == 0:
		return 0, errors.New("there is nothing in the batch: want a JSON object a line")
	}
	return count, nil
}

// repeats returns what a sorted list holds more than once.
func repeats(sorted []uint64) map[uint64]bool {
	repeated := map[uint64]bool{}
	for i := 1; i < len(sorted); i++ {
		if sorted[i] == sorted[i-1] {
			repeated[sorted[i]] = true
		}
	}
	return repeated
}

// findRepeats names the lines whose id an earlier line has. Only of ids whose hash is repeated the text is kept.
func (s *Settings) findRepeats(file io.ReaderAt, seed maphash.Seed, repeated map[uint64]bool, problems *ProblemsError) error {
	first := map[string]int{}
	for l, err := range scan(whole(file), s.lineLimit()) {
		if err != nil {
			return err
		}
		var only struct {
			ID identifier `json:"id"`
		}
		if json.Unmarshal(l.data, &only) != nil || !repeated[maphash.String(seed, string(only.ID))] {
			continue
		}
		id := string(only.ID)
		if before, found := first[id]; found {
			problems.add(fmt.Errorf("line %d: id: %.80q is that of line %d, too: want a name that no other line has", l.number, id, before))
			continue
		}
		first[id] = l.number
	}
	return nil
}
