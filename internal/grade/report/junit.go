package report

import (
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"iter"
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

// errChanged means that the second pass over the items was not like the first.
var errChanged = errors.New("the items changed while the report was written, or could be read only once")

type junitCounts struct {
	tests, failures, errors, skipped int
	time                             sandbox.Seconds
}

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

// WriteJUnit writes the XML that CI systems read: one suite with a test case for each item. An
// item fails when it is rejected, or, if it promises verdicts, when it has none of them; IE is an
// error and an item that was not judged is skipped. The counts stand before the cases, so it ranges over
// the items twice, as [ReadFile] and [slices.All] allow and [Read] does not; an error says when the
// passes differ. It stops at the items' first error.
func WriteJUnit(w io.Writer, items iter.Seq2[Item, error], o Options) error {
	var summary Summary
	var head, written junitCounts
	for item, err := range items {
		if err != nil {
			return err
		}
		summary.Add(item)
		head.add(item)
	}
	if _, err := io.WriteString(w, xml.Header); err != nil {
		return fmt.Errorf("write JUnit: %w", err)
	}
	out := xml.NewEncoder(w)
	out.Indent("", " ")
	suites := xml.StartElement{Name: xml.Name{Local: "testsuites"}, Attr: head.attributes(o.title())}
	suite := xml.StartElement{Name: xml.Name{Local: "testsuite"}, Attr: append(head.attributes(o.title()), attribute("skipped", head.skipped))}
	if !summary.First.IsZero() {
		suite.Attr = append(suite.Attr, attribute("timestamp", summary.First.UTC().Format("2006-01-02T15:04:05")))
	}
	if err := errors.Join(out.EncodeToken(suites), out.EncodeToken(suite)); err != nil {
		return fmt.Errorf("write JUnit: %w", err)
	}
	for item, err := range items {
		if err != nil {
			return err
		}
		written.add(item)
		if err = out.Encode(newJUnitCase(item)); err != nil {
			return fmt.Errorf("write JUnit: %w", err)
		}
	}
	if written != head {
		return errChanged
	}
	if err := errors.Join(out.EncodeToken(suite.End()), out.EncodeToken(suites.End()), out.Close()); err != nil {
		return fmt.Errorf("write JUnit: %w", err)
	}
	_, err := io.WriteString(w, "\n")
	return err
}

func (c *junitCounts) add(item Item) {
	c.tests++
	switch junitKind(item) {
	case "error":
		c.errors++
	case "failure":
		c.failures++
	case "skipped":
		c.skipped++
	}
	_, wall := itemTimes(item)
	c.time = plus(c.time, wall)
}

func (c *junitCounts) attributes(name string) []xml.Attr {
	return []xml.Attr{
		attribute("name", name), attribute("tests", c.tests), attribute("failures", c.failures),
		attribute("errors", c.errors), attribute("time", seconds(c.time)),
	}
}

func attribute(name string, value any) xml.Attr {
	return xml.Attr{Name: xml.Name{Local: name}, Value: fmt.Sprint(value)}
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
		words[i] = verdict.String()
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

// junitOutput is what was kept of the compiler's output and of the first test that was not accepted.
func junitOutput(item Item) string {
	var text strings.Builder
	if item.Compile != nil && item.Compile.Output != "" {
		fmt.Fprintf(&text, "compiler:\n%s\n", item.Compile.Output)
	}
	for _, test := range item.Tests {
		if test.Verdict == grade.AC {
			continue
		}
		for i, stream := range []*sandbox.Stream{test.Stdout, test.Stderr} {
			if stream != nil && len(stream.Data) > 0 {
				fmt.Fprintf(&text, "%s of %s:\n%s\n", [...]string{"stdout", "stderr"}[i], test.Name, stream.Text())
			}
		}
		break
	}
	return shorten(text.String(), junitKeep)
}
