package grade

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"

	"github.com/sandloop/sandloop/internal/sandbox"
)

// Suite is what submissions are judged by: the tests of a problem, how their outputs are
// checked, and how the verdict of the whole comes about. It is read-only once made.
type Suite struct {
	// Name is the problem's, for people.
	Name string `json:"name,omitempty"`
	// Tests are in the order in which they are judged. Their names differ.
	Tests []Test `json:"tests"`
	// Root is the tree of groups over the tests; nil means that all must be accepted.
	Root *Group `json:"groups,omitempty"`
	// Checker judges the outputs.
	Checker Checker `json:"checker,omitzero"`
}

// Test is one test of a suite. The answer never enters the submission's sandbox.
type Test struct {
	Name string `json:"name"`
	// Input is the submission's standard input and Answer what the checker compares with.
	Input  Data `json:"input,omitzero"`
	Answer Data `json:"answer,omitzero"`
	// Args are the submission's arguments and Files what else it finds in its workspace.
	Args  []string   `json:"args,omitempty"`
	Files []DataFile `json:"files,omitempty"`
	// WallTime and CPUTime are the test's own limits; unset ones are the program's.
	WallTime *sandbox.Seconds `json:"wall_seconds,omitempty"`
	CPUTime  *sandbox.Seconds `json:"cpu_seconds,omitempty"`
	// Tokens are the options of the tokens checker for this test, and ValidatorFlags the
	// arguments of the output validators.
	Tokens         TokenOptions `json:"tokens,omitzero"`
	ValidatorFlags []string     `json:"validator_flags,omitempty"`
}

// Data is a test's data: the bytes themselves, or the id of a blob that holds them. The
// zero value is no bytes.
type Data struct {
	Inline sandbox.Bytes `json:"inline,omitempty"`
	// Blob is the id, which is [BlobID] of the content. Inline is then empty.
	Blob string `json:"blob,omitempty"`
	// Size is the blob's in bytes.
	Size int64 `json:"size,omitempty"`
}

// DataFile is a file of a test.
type DataFile struct {
	// Path is relative to the submission's workspace.
	Path string `json:"path"`
	Data Data   `json:"data"`
}

// CheckerKind names a way to judge an output.
type CheckerKind string

// The kinds of checkers.
const (
	// CheckTokens is [Tokens], the default of the zero value.
	CheckTokens CheckerKind = "tokens"
	// CheckExact is [Exact] and CheckText is [Text].
	CheckExact CheckerKind = "exact"
	CheckText  CheckerKind = "text"
	// CheckNone accepts every run that ended by itself with exit code 0.
	CheckNone CheckerKind = "none"
	// CheckValidator has output validators judge, in sandboxes of their own, called as
	// `validator input answer feedback_dir flags...` with the output as their standard input.
	CheckValidator CheckerKind = "validator"
	// CheckTestlib has testlib checkers judge, called as `checker input output answer`.
	CheckTestlib CheckerKind = "testlib"
	// CheckInteractive has one output validator talk with the submission while both run.
	CheckInteractive CheckerKind = "interactive"
	// CheckUnit is for a program that runs unit tests of its own and reports them: its standard input is a
	// nonce, and its last line of output must be the nonce, a space and a [UnitReport] in JSON.
	CheckUnit CheckerKind = "unit"
)

// Checker tells how outputs are judged.
type Checker struct {
	Kind CheckerKind `json:"kind,omitempty"`
	// Programs are the validators or checkers, all of which must accept, with their limits; their files and
	// arguments are complete but for what each test adds.
	Programs []sandbox.Program `json:"programs,omitempty"`
	// CustomScore tells that a validator may score.
	CustomScore bool `json:"custom_score,omitempty"`
}

// Task tells how a job's program is judged.
type Task struct {
	// Suite is given whole, or else SuiteBlob is the id of the blob with its JSON.
	Suite     *Suite `json:"suite,omitempty"`
	SuiteBlob string `json:"suite_blob,omitempty"`
	// Mode tells when judging ends.
	Mode Mode `json:"mode,omitempty"`
	// Known are reports on tests that are not to be judged again, by name.
	Known map[string]TestReport `json:"known,omitempty"`
	// KeepOutput is how many bytes of each stream of a test a report keeps, half of them from
	// the end: 2048 when 0, none when negative.
	KeepOutput int `json:"keep_output,omitempty"`
}

// Mode tells when the judging of a submission ends.
type Mode string

// The modes.
const (
	// AsNeeded judges the tests that can still change the result, and is the default.
	AsNeeded Mode = ""
	// FirstFailure ends at the first test that is not accepted.
	FirstFailure Mode = "first_failure"
	// Everything judges every test.
	Everything Mode = "everything"
)

// Report is what became of a submission.
type Report struct {
	// Verdict and Score are those of the whole.
	Verdict Verdict  `json:"verdict"`
	Score   *float64 `json:"score,omitempty"`
	// Message says why, where no test does: the compiler's first line, what is wrong with the suite.
	Message string `json:"message,omitempty"`
	// Tests are the reports on the tests that were judged, in the suite's order.
	Tests []TestReport `json:"tests,omitempty"`
	// Groups is the result of the tree, without its tests, for a suite that has groups.
	Groups *Graded `json:"groups,omitempty"`
}

// TestReport is what became of one test.
type TestReport struct {
	Name string `json:"name"`
	Finding
	// Key is the suite's for the test; see [Suite.Key].
	Key string `json:"key,omitempty"`
	// The rest is as in [sandbox.TestResult]; CPUTime is that of user and system together.
	Outcome    sandbox.Outcome `json:"outcome"`
	ExitCode   int             `json:"exit_code"`
	Signal     string          `json:"signal,omitempty"`
	CPUTime    sandbox.Seconds `json:"cpu_seconds"`
	WallTime   sandbox.Seconds `json:"wall_seconds"`
	PeakMemory int64           `json:"peak_memory_bytes"`
	Stdout     *sandbox.Stream `json:"stdout,omitempty"`
	Stderr     *sandbox.Stream `json:"stderr,omitempty"`
}

// UnitReport is how a program of [CheckUnit] reports its unit tests.
type UnitReport struct {
	Passed int `json:"passed"`
	// Failed are the names of those that did not pass.
	Failed []string `json:"failed,omitempty"`
	// Error tells that the unit tests could not be run.
	Error string `json:"error,omitempty"`
}

// BlobID is the id of a blob: the SHA-256 of its content in hex.
func BlobID(content []byte) string {
	sum := sha256.Sum256(content)
	return hex.EncodeToString(sum[:])
}

// Key is a hash of all that a test's finding depends on beside the submission: input,
// answer, limits, flags and the checker. Equal keys mean that an earlier finding for the same
// program still holds.
func (s Suite) Key(test Test) string {
	test.Name = ""
	for _, data := range []*Data{&test.Input, &test.Answer} {
		*data = data.stored()
	}
	files := make([]DataFile, len(test.Files))
	for i, file := range test.Files {
		files[i] = DataFile{Path: file.Path, Data: file.Data.stored()}
	}
	test.Files = files
	content, err := json.Marshal(struct {
		Test    Test
		Checker Checker
	}{test, s.Checker})
	if err != nil {
		panic(err) // nothing in it can fail to encode
	}
	return BlobID(content)[:32]
}

// stored is d as if it were a blob, so that equal content is equal.
func (d Data) stored() Data {
	if d.Blob != "" || len(d.Inline) == 0 {
		return d
	}
	return Data{Blob: BlobID(d.Inline), Size: int64(len(d.Inline))}
}

// Length is the data's size in bytes.
func (d Data) Length() int64 { return d.Size + int64(len(d.Inline)) }
