package report

import (
	"encoding/xml"
	"fmt"
	"strings"

	"github.com/sandloop/sandloop/internal/grade"
	"github.com/sandloop/sandloop/internal/sandbox"
)

const (
	// junitKeep is how many bytes of output a test case keeps, and junitTests how many tests its failure lists.
	junitKeep  = 4 << 10
	junitTests = 50
	// junitLine bounds names and messages in bytes.
	junitLine = 1 << 10
)

type junitCase struct {
	XMLName   xml.Name `xml:"testcase"`
	Name      string   `xml:"name,attr"`
	ClassName string   `xml:"classname,attr"`
	Time      string   `xml:"time,attr"`
	Skipped   *junitProblem
	Failure   *junitProblem
	Error     *junitProblem
	SystemOut string `xml:"system-out,omitempty"`
}

type junitProblem struct {
	XMLName xml.Name
	Message string `xml:"message,attr"`
	Type    string `xml:"type,attr,omitempty"`
	Text    string `xml:",chardata"`
}

// junitKind is the name of the element that tells what is wrong with an item.
func junitKind(item Item) string {
	verdict := known(item.Verdict)
	switch {
	case verdict == grade.IE:
		return "error"
	case item.Unexpected:
		return "failure"
	case verdict == grade.NotRun:
		return "skipped"
	case len(item.Expected) == 0 && verdict.Rejects():
		return "failure"
	}
	return ""
}

func newJUnitCase(item Item) junitCase {
	_, wall := itemTimes(item)
	result := junitCase{
		Name: shorten(item.ID, junitLine), ClassName: shorten(item.Group, junitLine),
		Time: seconds(wall), SystemOut: junitOutput(item),
	}
	if result.ClassName == "" {
		result.ClassName = shorten(item.Language, junitLine)
	}
	kind := junitKind(item)
	problem := &junitProblem{XMLName: xml.Name{Local: kind}, Message: headline(item), Type: string(known(item.Verdict)), Text: junitText(item)}
	switch kind {
	case "error":
		result.Error = problem
	case "failure":
		result.Failure = problem
	case "skipped":
		result.Skipped = &junitProblem{XMLName: problem.XMLName, Message: "not judged"}
	}
	return result
}

// headline is one line that says what became of an item.
func headline(item Item) string {
	line := known(item.Verdict).String()
	if item.Unexpected {
		line += " instead of " + verdictList(item.Expected)
	}
	if item.Message != "" {
		line += ": " + item.Message
	}
	return shorten(line, junitLine)
}

func verdictList(list []grade.Verdict) string {
	words := make([]string, len(list))
	for i, verdict := range list {
		words[i] = known(verdict).String()
	}
	return strings.Join(words, " or ")
}

// junitText lists the tests that were not accepted.
func junitText(item Item) string {
	var text strings.Builder
	listed, more := 0, 0
	for _, test := range item.Tests {
		if test.Verdict == grade.AC {
			continue
		}
		if listed++; listed > junitTests {
			more++
			continue
		}
		fmt.Fprintf(&text, "%s %s %s\n", shorten(test.Name, junitLine), known(test.Verdict), shorten(test.Message, junitLine))
	}
	if more > 0 {
		fmt.Fprintf(&text, "and %d more\n", more)
	}
	return text.String()
}

// junitOutput is what was kept of the compiler's output and of the tests that tell most.
func junitOutput(item Item) string {
	var text strings.Builder
	if item.Compile != nil && item.Compile.Output != "" {
		fmt.Fprintf(&text, "compiler:\n%s\n", item.Compile.Output)
	}
	add := func(name string, test grade.TestReport, stream *sandbox.Stream) {
		if stream != nil && len(stream.Data) > 0 {
			fmt.Fprintf(&text, "%s of %s:\n%s\n", name, test.Name, stream.Text())
		}
	}
	for _, test := range tellingTests(item.Tests) {
		add("stdout", test, test.Stdout)
		add("stderr", test, test.Stderr)
	}
	return shorten(text.String(), junitKeep)
}
