package batch

import (
	"errors"
	"fmt"
	"iter"
	"os"

	"github.com/sandloop/sandloop/internal/grade"
	"github.com/sandloop/sandloop/internal/grade/report"
)

// ErrOtherBatch means that a results file holds results of something else.
var ErrOtherBatch = errors.New("holds results of another batch, or of this one with other programs, tests or limits")

// ErrInUse means that another process writes the results file.
var ErrInUse = errors.New("is written by another process")

// Results is the results file of a batch: one [report.Item] in JSON a line, in the order in which the jobs ended. An
// entry that could not be judged (IE) can have several lines; the last counts. Beside it stands, as long as the batch has not come to its end,
// a file named like it with ".state" behind, which says under which names its jobs are in Redis.
//
// Only one process can have it open. It is for one goroutine at a time.
type Results struct {
	path   string
	file   *os.File
	lines  *report.Writer
	state  state
	judged []uint64    // by index: a hash of id and key; 0 where there is no final result
	tries  map[int]int // by index: how many results were IE
	counts Counts
}

// OpenResults opens or makes a results file, and cuts off a last line that is not whole. With
// fresh what it holds is thrown away. The error is an [ErrInUse] if another process has it open.
func OpenResults(path string, fresh bool) (*Results, error) {
	file, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE, 0o644) //nolint:gosec // results are for whoever may read the folder
	if err != nil {
		return nil, err
	}
	r := &Results{path: path, file: file, lines: report.NewWriter(file), tries: map[int]int{}}
	if err := r.open(fresh); err != nil {
		_ = r.Close()
		return nil, fmt.Errorf("results file %s: %w", path, err)
	}
	return r, nil
}

func (r *Results) open(fresh bool) error {
	if err := lock(r.file); err != nil {
		return err
	}
	if fresh {
		if err := r.file.Truncate(0); err != nil {
			return err
		}
	}
	if _, err := report.Mend(r.file); err != nil {
		return err
	}
	for item, err := range report.ReadFile(r.path) {
		if err != nil {
			return err
		}
		if item.Key == "" {
			return fmt.Errorf("item %.80q has no key: it is no results file of a batch", item.ID)
		}
		if err := checkIndex(item.Index); err != nil {
			return fmt.Errorf("item %.80q: %w", item.ID, err)
		}
		r.remember(item)
	}
	return r.openState(fresh)
}

// remember notes that an entry has a result.
func (r *Results) remember(item report.Item) {
	if item.Verdict == grade.IE {
		r.tries[item.Index]++
		return
	}
	for len(r.judged) <= item.Index {
		r.judged = append(r.judged, 0)
	}
	if r.judged[item.Index] == 0 {
		r.counts.Skipped++
		r.counts.add(item.Verdict, item.Expected, item.Unexpected)
	}
	r.judged[item.Index] = fingerprint(item.ID, item.Key)
}

// Has tells whether the entry at index has a final result. The error is [ErrOtherBatch] if what
// is there is the result of another entry.
func (r *Results) Has(index int, entry Entry) (bool, error) {
	if index >= len(r.judged) || r.judged[index] == 0 { // before the key, which costs
		return false, nil
	}
	return r.has(index, entry.ID, entry.Key())
}

func (r *Results) has(index int, id, key string) (bool, error) {
	if index >= len(r.judged) || r.judged[index] == 0 {
		return false, nil
	}
	if r.judged[index] != fingerprint(id, key) {
		return false, fmt.Errorf("results file %s %w: entry %d (%.80q) is not the one that was judged", r.path, ErrOtherBatch, index+1, id)
	}
	return true, nil
}

// CheckLength returns [ErrOtherBatch] if there are results of more entries than the batch has.
func (r *Results) CheckLength(entries int) error {
	if len(r.judged) > entries {
		return fmt.Errorf("results file %s %w: it goes to entry %d, the batch has %d", r.path, ErrOtherBatch, len(r.judged), entries)
	}
	return nil
}

// Counts are those of the results that were there when the file was opened.
func (r *Results) Counts() Counts {
	counts := r.counts
	counts.Verdicts = map[grade.Verdict]int{}
	for verdict, n := range r.counts.Verdicts {
		counts.Verdicts[verdict] = n
	}
	return counts
}

// Path is the file's name.
func (r *Results) Path() string { return r.path }

// add writes one result in a single call, so that what is in the file survives our own death.
func (r *Results) add(item report.Item) error {
	if err := r.lines.Write(item); err != nil {
		return fmt.Errorf("results file %s: %w", r.path, err)
	}
	return nil
}

// Items reads the result that counts of each entry, in the order of the batch. It can be ranged over
// many times, and holds 8 bytes an entry.
func (r *Results) Items() iter.Seq2[report.Item, error] { return inOrder(r.path) }

// Close gives the file free for other processes.
func (r *Results) Close() error { return errors.Join(unlock(r.file), r.file.Close()) }
