package report

import (
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"iter"

	"github.com/sandloop/sandloop/internal/sandbox"
)

// errChanged means that the second pass over the items was not like the first.
var errChanged = errors.New("the items changed while the report was written, or could be read only once")

type junitCounts struct {
	tests, failures, errors, skipped int
	time                             sandbox.Seconds
}

// WriteJUnit writes the XML that CI systems read: one suite with a test case for each item. An
// item fails when it is rejected, or, if it promises verdicts, when it has none of them; IE is an
// error and an item that was not judged is skipped. The counts stand before the cases, so it ranges over
// the items twice, which [ReadFile] allows and [Read] does not; an error says when the passes differ. It stops at the items' first error.
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
