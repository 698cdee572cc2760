package submissions

import (
	"errors"
	"fmt"
	"iter"

	"github.com/sandloop/sandloop/internal/sandbox"
)

// Submission is what somebody handed in.
type Submission struct {
	// ID is its name without extension where that is its alone, or else with what tells it from others.
	ID string
	// Group is the folder around it, with Options.GroupByFolder.
	Group string
	// Files have paths relative to the submission's folder.
	Files []sandbox.File
	// Problem, if not empty, says why it cannot be used. Files are then not all.
	Problem string
}

// Options say how entries become submissions.
type Options struct {
	// GroupByFolder takes the top-level folders for groups.
	GroupByFolder bool
	// MaxBytes bounds the files of one submission together, 16 MiB when 0.
	MaxBytes int64
}

// Bounds of what is read. None of them is near what people hand in.
const (
	defaultMaxBytes = 16 << 20
	maxFiles        = 1000      // of one submission
	maxEntries      = 1_000_000 // of one folder or archive
	maxDepth        = 32        // folders in each other
	maxNameBytes    = 1024      // of a path in an archive
	maxTotal        = 16 << 30  // bytes of all files of one folder or archive
	maxUnfinished   = 256 << 20 // bytes of submissions whose files are not all there yet
	maxRatio        = 250       // of what comes out of a compressed archive to what it is
	freeBytes       = 64 << 20  // below which maxRatio does not count
)

// Set are the submissions of several paths.
type Set struct {
	options Options
	plans   []*plan
}

// Open lists what the paths hold: each is a file, a folder, or a zip, tar or tar.gz archive. The
// caller closes the set.
func Open(paths []string, o Options) (*Set, error) {
	if o.MaxBytes == 0 {
		o.MaxBytes = defaultMaxBytes
	}
	set := &Set{options: o}
	for _, name := range paths {
		src, err := openSource(name)
		if err != nil {
			return nil, errors.Join(err, set.Close())
		}
		plan, err := newPlan(src, o.GroupByFolder)
		if err != nil {
			return nil, errors.Join(fmt.Errorf("%s: %w", name, err), src.close(), set.Close())
		}
		set.plans = append(set.plans, plan)
	}
	nameAll(set.plans)
	return set, nil
}

// Len is the number of submissions.
func (s *Set) Len() int {
	count := 0
	for _, plan := range s.plans {
		count += len(plan.order)
	}
	return count
}

// All reads the submissions, each time in the same order as long as the files stay the same. An error ends it.
func (s *Set) All() iter.Seq2[Submission, error] {
	return func(yield func(Submission, error) bool) {
		for _, plan := range s.plans {
			err := plan.read(s.options.MaxBytes, func(submission Submission) error {
				if !yield(submission, nil) {
					return errStopped
				}
				return nil
			})
			if errors.Is(err, errStopped) {
				return
			}
			if err != nil {
				yield(Submission{}, fmt.Errorf("%s: %w", plan.source.name(), err))
				return
			}
		}
	}
}

// errStopped ends a reading that nobody wants to go on.
var errStopped = errors.New("stopped")

// Close ends the use of the folders and archives.
func (s *Set) Close() error {
	var errs []error
	for _, plan := range s.plans {
		errs = append(errs, plan.source.close())
	}
	return errors.Join(errs...)
}
