package problem

import (
	"bytes"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/sandloop/sandloop/internal/grade"
)

// results are DOMjudge's names of verdicts, which also name folders; _ and - are the same there.
// DOMjudge calls a program that the memory limit ended RUN-ERROR as well, and has
// NO-OUTPUT for what is a wrong answer here.
var results = map[string][]grade.Verdict{
	"CORRECT":        {grade.AC},
	"WRONG-ANSWER":   {grade.WA},
	"NO-OUTPUT":      {grade.WA},
	"TIMELIMIT":      {grade.TLE},
	"RUN-ERROR":      {grade.RE, grade.MLE},
	"MEMORY-LIMIT":   {grade.MLE},
	"OUTPUT-LIMIT":   {grade.OLE},
	"COMPILER-ERROR": {grade.CE},
	// The names of the format, which DOMjudge translates.
	"ACCEPTED":            {grade.AC},
	"TIME-LIMIT-EXCEEDED": {grade.TLE},
	"RUN-TIME-ERROR":      {grade.RE, grade.MLE, grade.OLE},
	// Names that people use for the same.
	"COMPILE-ERROR":         {grade.CE},
	"MEMORY-LIMIT-EXCEEDED": {grade.MLE},
	"OUTPUT-LIMIT-EXCEEDED": {grade.OLE},
}

// resultVerdicts reads one result's name in any case.
func resultVerdicts(name string) ([]grade.Verdict, bool) {
	verdicts, known := results[strings.ReplaceAll(strings.ToUpper(strings.TrimSpace(name)), "_", "-")]
	return verdicts, known
}

// annotation is what a source file promises of itself.
type annotation struct {
	verdicts []grade.Verdict
	score    *float64
}

// markers are what an annotation begins with. DOMjudge takes either for results and scores.
var markers = []string{"@EXPECTED_RESULTS@:", "@EXPECTED_SCORE@:"}

// parseAnnotation finds the annotation of a source. nil is none; two are an error.
func parseAnnotation(source []byte) (*annotation, error) {
	upper := bytes.ToUpper(source)
	var found *annotation
	for _, marker := range markers {
		for rest := upper; ; {
			_, after, ok := bytes.Cut(rest, []byte(marker))
			if !ok {
				break
			}
			rest = after
			if found != nil {
				return nil, fmt.Errorf("has more than one of %s", strings.Join(markers, " and "))
			}
			line, _, _ := bytes.Cut(after, []byte("\n"))
			parsed, err := parseResults(marker, string(line))
			if err != nil {
				return nil, err
			}
			found = parsed
		}
	}
	return found, nil
}

func parseResults(marker, line string) (*annotation, error) {
	line = strings.TrimSpace(line)
	for _, end := range []string{"*/", "-->", "*)", "-}"} {
		line = strings.TrimSpace(strings.TrimSuffix(line, end))
	}
	if score, err := strconv.ParseFloat(line, 64); err == nil && score >= -maxScore && score <= maxScore {
		return &annotation{score: &score}, nil
	}
	found := &annotation{}
	for _, name := range strings.Split(line, ",") {
		verdicts, known := resultVerdicts(name)
		if !known {
			return nil, fmt.Errorf("%s %q: want any of CORRECT, WRONG-ANSWER, TIMELIMIT, RUN-ERROR, MEMORY-LIMIT, OUTPUT-LIMIT, NO-OUTPUT, COMPILER-ERROR with commas between", marker, shorten(strings.TrimSpace(name)))
		}
		for _, verdict := range verdicts {
			if !slices.Contains(found.verdicts, verdict) {
				found.verdicts = append(found.verdicts, verdict)
			}
		}
	}
	return found, nil
}
