package grade

import "fmt"

// Verdict is the judgement of a test, a group or a submission.
type Verdict string

// The verdicts.
const (
	// NotRun is the zero value: not judged, or not yet, or not needed.
	NotRun Verdict = ""
	// AC, accepted: the output is right.
	AC Verdict = "AC"
	// WA, wrong answer: the program ended well within its limits and the output is wrong.
	WA Verdict = "WA"
	// TLE, time limit exceeded: CPU time, or wall time as the backstop.
	TLE Verdict = "TLE"
	// MLE, memory limit exceeded: the kernel killed a process of the run for it.
	MLE Verdict = "MLE"
	// OLE, output limit exceeded: more output than the problem allows.
	OLE Verdict = "OLE"
	// RE, run-time error: another exit code than 0, a signal, a refused process or a full disk.
	RE Verdict = "RE"
	// CE, compile error: the submission never ran.
	CE Verdict = "CE"
	// IE, internal error: we, the package or its validator failed. It says nothing about
	// the submission and never counts against it.
	IE Verdict = "IE"
)

// severity is the order of the reference grader, worst first; it knows no CE, which
// stands next to IE here because a submission that did not compile has no other verdict.
var severity = []Verdict{IE, CE, RE, MLE, TLE, OLE, WA, AC}

// Verdicts lists the verdicts of judged tests from the best to the worst.
func Verdicts() []Verdict {
	best := make([]Verdict, 0, len(severity))
	for i := len(severity) - 1; i >= 0; i-- {
		best = append(best, severity[i])
	}
	return best
}

// Worst returns the worst of the verdicts: IE, CE, RE, MLE, TLE, OLE, WA, AC in this
// order. Without any verdict it is AC, as in the reference, and NotRun counts only when
// nothing rejects.
func Worst(verdicts ...Verdict) Verdict {
	present := map[Verdict]bool{}
	for _, verdict := range verdicts {
		present[verdict] = true
	}
	for _, verdict := range severity {
		if present[verdict] && verdict != AC {
			return verdict
		}
	}
	if present[NotRun] {
		return NotRun
	}
	return AC
}

// Rejects tells whether v is a judged verdict other than AC.
func (v Verdict) Rejects() bool { return v != AC && v != NotRun }

// String is the verdict's letters, and "-" for NotRun.
func (v Verdict) String() string {
	if v == NotRun {
		return "-"
	}
	return string(v)
}

// Class returns the one of AC, WA, TLE and RTE under which packages speak of a verdict
// in submissions.yaml and in folder names: RE, MLE and OLE are RTE there, since the
// format names no others and the reference tools see each of them as a crash. It is
// empty for CE, IE and NotRun, which no package may expect of a test.
func (v Verdict) Class() string {
	switch v {
	case AC, WA, TLE:
		return string(v)
	case RE, MLE, OLE:
		return "RTE"
	case CE, IE, NotRun:
		return ""
	}
	return ""
}

// ParseVerdict reads a verdict as the tools of the field write it: ours, and RTE for RE,
// JE for IE, PE (presentation error) for WA.
func ParseVerdict(text string) (Verdict, error) {
	switch text {
	case "RTE":
		return RE, nil
	case "JE":
		return IE, nil
	case "PE":
		return WA, nil
	}
	for _, verdict := range severity {
		if string(verdict) == text {
			return verdict, nil
		}
	}
	return NotRun, fmt.Errorf("verdict %q is unknown: want one of %v", text, Verdicts())
}
