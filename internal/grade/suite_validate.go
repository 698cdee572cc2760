package grade

import (
	"fmt"
	"math"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/sandloop/sandloop/internal/sandbox"
)

// MaxBlob is the size in bytes of the largest blob.
const MaxBlob = 128 << 20

const (
	maxTests     = 20_000
	maxNameBytes = 1024
)

// Validate checks names, sizes, limits, the checker and the tree of groups. The error has a
// sentence for each field that is wrong, 20 at most.
func (s *Suite) Validate() error {
	var c complaints
	s.validate(&c, "suite")
	return c.err()
}

func (s *Suite) validate(c *complaints, field string) {
	if problem := badName(s.Name); s.Name != "" && problem != "" {
		c.add(field+".name", "%s", problem)
	}
	if len(s.Tests) == 0 || len(s.Tests) > maxTests {
		c.add(field+".tests", "are %d: want 1 to %d", len(s.Tests), maxTests)
	}
	names := make(map[string]bool, min(len(s.Tests), maxTests))
	for i, test := range s.Tests[:min(len(s.Tests), maxTests)] {
		where := fmt.Sprintf("%s.tests[%d]", field, i)
		if names[test.Name] {
			c.add(where+".name", "%.80q is given twice", test.Name)
		}
		names[test.Name] = true
		test.validate(c, where)
	}
	if s.Root != nil {
		validateGroups(c, field+".groups", s.Root, names)
	}
	s.Checker.validate(c, field+".checker")
}

func (t Test) validate(c *complaints, field string) {
	if problem := badName(t.Name); problem != "" {
		c.add(field+".name", "%s", problem)
	}
	t.Input.validate(c, field+".input")
	t.Answer.validate(c, field+".answer")
	files := make([]sandbox.File, len(t.Files))
	for i, file := range t.Files {
		files[i].Path = file.Path
		file.Data.validate(c, fmt.Sprintf("%s.files[%d].data", field, i))
	}
	c.within(field, validateLists(t.Args, files))
	c.within(field+".validator_flags", validateLists(t.ValidatorFlags, nil))
	validateTime(c, field+".wall_seconds", t.WallTime)
	validateTime(c, field+".cpu_seconds", t.CPUTime)
	validateTolerance(c, field+".tokens."+flagAbsolute, t.Tokens.Absolute)
	validateTolerance(c, field+".tokens."+flagRelative, t.Tokens.Relative)
}

func (d Data) validate(c *complaints, field string) {
	switch {
	case d.Blob == "" && d.Size != 0:
		c.add(field+".size", "%d is given without a blob: want none", d.Size)
	case d.Blob == "":
	case len(d.Inline) > 0:
		c.add(field+".blob", "is given beside inline: want one of them")
	case !IsBlobID(d.Blob):
		c.add(field+".blob", "%.80q is no blob's id: want 64 hex digits in lower case", d.Blob)
	case d.Size < 0 || d.Size > MaxBlob:
		c.add(field+".size", "%d: want 0 to %d", d.Size, MaxBlob)
	}
}

// badName says what is wrong with a name, which must not hide anything in a table or a log line.
func badName(name string) string {
	switch {
	case name == "":
		return "is empty"
	case len(name) > maxNameBytes:
		return fmt.Sprintf("is %d bytes: want at most %d", len(name), maxNameBytes)
	case !utf8.ValidString(name):
		return fmt.Sprintf("%.80q is not valid UTF-8", name)
	}
	for _, r := range name {
		if !unicode.IsPrint(r) {
			return fmt.Sprintf("%.80q holds the unprintable character %U", name, r)
		}
	}
	return ""
}

// anySize are limits that depend on no installation.
var anySize = sandbox.Limits{FilesIn: math.MaxInt, InputBytes: math.MaxInt64}

// validateLists checks what a test adds to a program by the rules for programs.
func validateLists(args []string, files []sandbox.File) error {
	if len(args)+len(files) == 0 {
		return nil
	}
	return sandbox.Program{Language: "any", Source: sandbox.Bytes("any"), Args: args, Files: files}.Validate(anySize)
}

// The shortest time that can be measured, and one that is longer than a job can take.
const (
	shortest = sandbox.Seconds(10 * time.Millisecond)
	longest  = sandbox.Seconds(7 * 24 * time.Hour)
)

func validateTime(c *complaints, field string, limit *sandbox.Seconds) {
	if limit != nil && (*limit < shortest || *limit > longest) {
		c.add(field, "%v: want %v to %v", *limit, shortest, longest)
	}
}

func validateTolerance(c *complaints, field string, tolerance *float64) {
	if tolerance != nil && !(*tolerance >= 0 && *tolerance <= math.MaxFloat64) { // the negation refuses NaN
		c.add(field, "%v: want a number that is not negative", *tolerance)
	}
}
