package problem

import (
	"fmt"
	"sort"
	"strings"
)

// Issue is one thing that is wrong with a package or worth knowing.
type Issue struct {
	// File is the path in the package, "" for the package as a whole.
	File string `json:"file,omitempty"`
	// Line is where in the file, from 1; 0 is unknown.
	Line int `json:"line,omitempty"`
	// Message says what was found and what is wanted.
	Message string `json:"message"`
}

// String is "file:line: message".
func (i Issue) String() string {
	switch {
	case i.File == "":
		return i.Message
	case i.Line == 0:
		return i.File + ": " + i.Message
	}
	return fmt.Sprintf("%s:%d: %s", i.File, i.Line, i.Message)
}

// Invalid is the error of a package that cannot be used. It lists every reason.
type Invalid struct {
	Issues []Issue
}

// Error has one issue a line.
func (e *Invalid) Error() string {
	lines := make([]string, 0, len(e.Issues))
	for _, issue := range e.Issues {
		lines = append(lines, issue.String())
	}
	return strings.Join(lines, "\n")
}

// maxIssues bounds what a hostile package can make us say.
const maxIssues = 200

// report gathers issues while a package is read.
type report struct {
	errors, warnings []Issue
	dropped          int
}

func (r *report) errorf(file string, line int, format string, args ...any) {
	r.add(&r.errors, Issue{File: file, Line: line, Message: fmt.Sprintf(format, args...)})
}

func (r *report) warnf(file string, line int, format string, args ...any) {
	r.add(&r.warnings, Issue{File: file, Line: line, Message: fmt.Sprintf(format, args...)})
}

func (r *report) add(list *[]Issue, issue Issue) {
	if len(*list) >= maxIssues {
		r.dropped++
		return
	}
	*list = append(*list, issue)
}

// err is nil or an *Invalid with the issues by file and line.
func (r *report) err() error {
	if len(r.errors) == 0 {
		return nil
	}
	sortIssues(r.errors)
	issues := r.errors
	if r.dropped > 0 {
		issues = append(issues, Issue{Message: fmt.Sprintf("%d more issues are not listed", r.dropped)})
	}
	return &Invalid{Issues: issues}
}

func sortIssues(issues []Issue) {
	sort.SliceStable(issues, func(i, j int) bool {
		if issues[i].File != issues[j].File {
			return issues[i].File < issues[j].File
		}
		return issues[i].Line < issues[j].Line
	})
}
