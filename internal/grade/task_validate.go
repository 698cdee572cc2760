package grade

import (
	"maps"
	"slices"
	"strings"
)

// MaxKeepOutput is the most that Task.KeepOutput can be, in bytes.
const MaxKeepOutput = 1 << 20

// Validate checks all that can be checked without the installation and without blobs. The
// error has a sentence for each field that is wrong, 20 at most.
func (t Task) Validate() error {
	var c complaints
	switch {
	case t.Suite != nil && t.SuiteBlob != "":
		c.add("suite_blob", "is given beside suite: want one of them")
	case t.Suite != nil:
		t.Suite.validate(&c, "suite")
	case t.SuiteBlob == "":
		c.add("suite", "is not given: want it or suite_blob")
	case !IsBlobID(t.SuiteBlob):
		c.add("suite_blob", "%.80q is no blob's id: want 64 hex digits in lower case", t.SuiteBlob)
	}
	if modes := []Mode{AsNeeded, FirstFailure, Everything}; !slices.Contains(modes, t.Mode) {
		c.add("mode", "%.80q is unknown: want one of %q, %q or none", t.Mode, FirstFailure, Everything)
	}
	if t.KeepOutput > MaxKeepOutput {
		c.add("keep_output", "%d: want at most %d", t.KeepOutput, MaxKeepOutput)
	}
	t.validateKnown(&c)
	return c.err()
}

func (t Task) validateKnown(c *complaints) {
	if len(t.Known) > maxTests {
		c.add("known", "holds %d reports: want at most %d", len(t.Known), maxTests)
		return
	}
	for _, name := range slices.Sorted(maps.Keys(t.Known)) {
		report := t.Known[name]
		if report.Name != name {
			c.add("known", "the report under %.80q is of the test %.80q: want the same name", name, report.Name)
		}
		if !slices.Contains(severity, report.Verdict) {
			c.add("known", "the report on %.80q has the verdict %.80q: want one of %v", name, string(report.Verdict), Verdicts())
		}
	}
}

// IsBlobID tells whether text has the form of what [BlobID] returns.
func IsBlobID(text string) bool {
	return len(text) == 64 && strings.Trim(text, "0123456789abcdef") == ""
}
