package main

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"

	"github.com/sandloop/sandloop/internal/batch"
	"github.com/sandloop/sandloop/internal/grade"
	"github.com/sandloop/sandloop/internal/grade/judge"
	results "github.com/sandloop/sandloop/internal/grade/report"
	"github.com/sandloop/sandloop/internal/sandbox"
)

// maxResultLine bounds a line of a results file in bytes.
const maxResultLine = 64 << 20

// oldResults finds results of an earlier grading by their ids. In memory is the place of each, and nothing else.
type oldResults struct {
	file   *os.File
	places map[string]*oldPlace
}

type oldPlace struct {
	offset int64
	seen   bool
}

// openOldResults reads a results file once. Of several lines with an id the last counts, and a last line that is
// torn does not.
func openOldResults(path string) (*oldResults, error) {
	file, err := os.Open(path) //nolint:gosec // the user's own file
	if err != nil {
		return nil, err
	}
	old := &oldResults{file: file, places: map[string]*oldPlace{}}
	if err := old.index(); err != nil {
		_ = file.Close()
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	return old, nil
}

func (o *oldResults) index() error {
	in := bufio.NewScanner(o.file)
	in.Buffer(nil, maxResultLine)
	start, next := int64(0), int64(0)
	in.Split(func(data []byte, atEnd bool) (int, []byte, error) {
		size, line, err := bufio.ScanLines(data, atEnd) // which drops a carriage return, too
		next += int64(size)
		return size, line, err
	})
	for number := 1; in.Scan(); number, start = number+1, next {
		line := in.Bytes()
		if len(bytes.TrimSpace(line)) == 0 {
			continue
		}
		var head struct {
			ID  string `json:"id"`
			Key string `json:"key"`
		}
		if err := json.Unmarshal(line, &head); err != nil {
			if !in.Scan() {
				return in.Err() // the last line
			}
			return fmt.Errorf("line %d: %w", number, err)
		}
		if head.Key == "" {
			return fmt.Errorf("line %d: has no key: want the results of enqueue grade", number)
		}
		o.places[head.ID] = &oldPlace{offset: start}
	}
	return in.Err()
}

// find returns the result of an id.
func (o *oldResults) find(id string) (item results.Item, found bool, err error) {
	place, found := o.places[id]
	if !found {
		return item, false, nil
	}
	place.seen = true
	line := json.NewDecoder(bufio.NewReader(io.NewSectionReader(o.file, place.offset, maxResultLine)))
	if err := line.Decode(&item); err != nil {
		return item, false, fmt.Errorf("%s: result of %s: %w", o.file.Name(), id, err)
	}
	return item, true, nil
}

// unseen is how many results nobody asked for.
func (o *oldResults) unseen() (count int) {
	for _, place := range o.places {
		if !place.seen {
			count++
		}
	}
	return count
}

// regrader keeps of an earlier grading what still holds.
type regrader struct {
	old   *oldResults
	suite *grade.Suite
	// names finds the tests of the suite by their keys.
	names map[string][]string
	judge *judge.Judge
}

func newRegrader(old *oldResults, suite *grade.Suite) *regrader {
	r := &regrader{old: old, suite: suite, names: map[string][]string{}, judge: judge.New(judge.Options{Runner: nothingRuns{}, Blobs: nothingRuns{}})}
	for _, test := range suite.Tests {
		key := suite.Key(test)
		r.names[key] = append(r.names[key], test.Name)
	}
	return r
}

// errNotKnown means that a submission has to run.
var errNotKnown = errors.New("something must be judged anew")

// nothingRuns lets a judge join only what is known already.
type nothingRuns struct{}

func (nothingRuns) RunTests(context.Context, sandbox.Program, func(*sandbox.TestResult) (sandbox.Test, bool)) (sandbox.Result, error) {
	return sandbox.Result{}, errNotKnown
}

func (nothingRuns) Get(context.Context, string) ([]byte, error) { return nil, errNotKnown }

// apply puts into an entry what is known of it: the reports on tests that did not change, for the same program with the same
// limits, or the whole result where no test is left to judge.
func (r *regrader) apply(ctx context.Context, entry *batch.Entry) error {
	item, found, err := r.old.find(entry.ID)
	if err != nil || !found {
		return err
	}
	entry.Previous = &results.Previous{Verdict: item.Verdict, Score: item.Score}
	if entry.Result != nil || item.Program != batch.ProgramKey(entry.Job.Program) {
		return nil
	}
	item.Previous = nil
	if item.Verdict == grade.CE && item.Compile != nil {
		entry.Result = &item
		return nil
	}
	task := *entry.Job.Grade
	task.Known = r.known(item)
	if len(task.Known) == 0 {
		return nil
	}
	whole := task
	whole.Suite, whole.SuiteBlob = r.suite, ""
	_, graded, err := r.judge.Judge(ctx, entry.Job.Program, whole)
	switch {
	case errors.Is(err, errNotKnown):
		entry.Job.Grade = &task
	case err != nil:
		return err
	default:
		item.Verdict, item.Score, item.Message = graded.Verdict, graded.Score, graded.Message
		item.Tests, item.Groups = graded.Tests, graded.Groups
		entry.Result = &item
	}
	return nil
}

// known are the reports on tests of the present suite. Tests of another name with the same content are the same.
func (r *regrader) known(item results.Item) map[string]grade.TestReport {
	known := map[string]grade.TestReport{}
	for _, test := range item.Tests {
		if test.Verdict == grade.IE || test.Key == "" {
			continue
		}
		for _, name := range r.names[test.Key] {
			test.Name = name
			known[name] = test
		}
	}
	return known
}
