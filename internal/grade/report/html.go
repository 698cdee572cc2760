package report

import (
	"bufio"
	"crypto/sha256"
	"embed"
	"encoding/base64"
	"fmt"
	"html/template"
	"io"
	"iter"

	"github.com/sandloop/sandloop/internal/grade"
)

//go:embed page
var pageFiles embed.FS

// style is the only thing of the page that its policy lets do anything, by its hash.
var style, styleHash = loadStyle()

var pageTemplate = template.Must(template.New("page.html").Funcs(template.FuncMap{
	"name":      func(v grade.Verdict) string { return verdictName(v) },
	"class":     verdictClass,
	"thousands": thousands,
	"items":     countedItems,
}).ParseFS(pageFiles, "page/*.html"))

// WriteHTML writes one page that needs nothing else: no script, no other file, no network. It shows the
// worst items first and says how many are left out, so that the page of a large batch can be
// mailed, too. It ranges over the items once and stops at their first error, which it returns before it
// has written anything.
func WriteHTML(w io.Writer, items iter.Seq2[Item, error], o Options) error {
	p := newPage()
	for item, err := range items {
		if err != nil {
			return err
		}
		p.add(item)
	}
	out := bufio.NewWriterSize(w, 64<<10)
	if err := pageTemplate.Execute(out, p.view(o)); err != nil {
		return fmt.Errorf("write HTML: %w", err)
	}
	if err := out.Flush(); err != nil {
		return fmt.Errorf("write HTML: %w", err)
	}
	return nil
}

func loadStyle() (template.CSS, string) {
	text, err := pageFiles.ReadFile("page/page.css")
	if err != nil {
		panic(err) // it is part of the program
	}
	sum := sha256.Sum256(text)
	return template.CSS(text), "sha256-" + base64.StdEncoding.EncodeToString(sum[:]) //nolint:gosec // our own file
}

// verdictClass is the class that colours a verdict.
func verdictClass(v grade.Verdict) string {
	if v == grade.NotRun {
		return "v none"
	}
	return "v " + string(known(v))
}
