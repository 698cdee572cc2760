package problem

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io"

	"github.com/sandloop/sandloop/internal/grade"
	"github.com/sandloop/sandloop/internal/sandbox"
)

// Data of tests up to inlineBytes lies in the suite itself, up to inlineTotal of all tests together, since a suite goes to
// workers as a whole.
const (
	inlineBytes = 1 << 10
	inlineTotal = 256 << 10
)

// Blob is data of a suite that lies outside of it. It stays in the package until it is read.
type Blob struct {
	// ID is [grade.BlobID] of the content and Size its length in bytes.
	ID   string
	Size int64

	problem *Problem
	source  string
}

// Read returns the whole content. The error tells when it is no longer what the suite refers to.
func (b Blob) Read() ([]byte, error) {
	content, err := b.problem.ReadFile(b.source, b.Size)
	if err != nil {
		return nil, err
	}
	if grade.BlobID(content) != b.ID {
		return nil, fmt.Errorf("read %s: it was changed after the package was loaded", b.source)
	}
	return content, nil
}

// dataReference makes the references to files of a package.
type dataReference struct {
	problem *Problem
	inline  int64
	blobs   []Blob
	known   map[string]bool
}

// of reads a file once, to hash it or to hold it.
func (d *dataReference) of(source string, size int64) (grade.Data, error) {
	if size <= inlineBytes && d.inline+size <= inlineTotal {
		content, err := d.problem.ReadFile(source, size)
		d.inline += int64(len(content))
		return grade.Data{Inline: content}, err
	}
	file, err := d.problem.Open(source)
	if err != nil {
		return grade.Data{}, err
	}
	defer func() { _ = file.Close() }()
	hash := sha256.New()
	length, err := io.Copy(hash, io.LimitReader(file, size+1))
	if err != nil {
		return grade.Data{}, fmt.Errorf("read %s: %w", source, plain(err))
	}
	if length > size {
		return grade.Data{}, fmt.Errorf("read %s: it grew while the package was read", source)
	}
	id := hex.EncodeToString(hash.Sum(nil))
	if !d.known[id] {
		d.known[id] = true
		d.blobs = append(d.blobs, Blob{ID: id, Size: length, problem: d.problem, source: source})
	}
	return grade.Data{Blob: id, Size: length}, nil
}

// readTests fills the suite's tests, in the order in which they are judged, and its groups.
func (g *Grading) readTests(o GradingOptions) error {
	byName := make(map[string]Test, len(g.problem.Tests))
	for _, test := range g.problem.Tests {
		byName[test.Name] = test
	}
	data := &dataReference{problem: g.problem, known: map[string]bool{}}
	for _, name := range g.problem.Root.Tests() {
		if o.Tests != "" && !matchesPathOrParent(o.Tests, name) {
			continue
		}
		test, err := data.test(byName[name], o.Defaults)
		if err != nil {
			return err
		}
		g.Suite.Tests = append(g.Suite.Tests, test)
	}
	if len(g.Suite.Tests) == 0 {
		return fmt.Errorf("no test matches %q: the first of %d tests is %s", o.Tests, len(byName), g.problem.Root.Tests()[0])
	}
	g.Suite.Root = g.problem.Root
	if o.Tests != "" {
		g.Suite.Root = flat(g.Suite.Tests)
	}
	g.Blobs = data.blobs
	return nil
}

// flat is the group of a part of the tests: each must be accepted, and scores of validators do not count.
func flat(tests []grade.Test) *grade.Group {
	group := &grade.Group{Break: true, Rule: grade.ScoringRule{Aggregation: grade.Unscored}}
	for _, test := range tests {
		group.Items = append(group.Items, grade.Item{Test: test.Name})
	}
	return group
}

func (d *dataReference) test(test Test, defaults sandbox.Limits) (made grade.Test, err error) {
	if test.InputSize > defaults.InputBytes {
		return made, &Invalid{Issues: []Issue{{File: test.Input, Message: fmt.Sprintf("is %d bytes: want at most the %d that a job may send here", test.InputSize, defaults.InputBytes)}}}
	}
	if test.AnswerSize > grade.MaxBlob {
		return made, &Invalid{Issues: []Issue{{File: test.Answer, Message: fmt.Sprintf("is %d bytes: want at most %d", test.AnswerSize, grade.MaxBlob)}}}
	}
	made = grade.Test{Name: test.Name, Args: test.Args, Tokens: test.Tokens, ValidatorFlags: test.ValidatorFlags}
	if !d.problem.CustomValidation {
		made.ValidatorFlags = nil // Tokens holds what they say
	}
	if made.Input, err = d.of(test.Input, test.InputSize); err != nil {
		return made, err
	}
	if made.Answer, err = d.of(test.Answer, test.AnswerSize); err != nil {
		return made, err
	}
	for _, file := range test.Files {
		content, err := d.of(file.Source, file.Size)
		if err != nil {
			return made, err
		}
		made.Files = append(made.Files, grade.DataFile{Path: file.Path, Data: content})
	}
	return made, nil
}
