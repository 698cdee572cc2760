package report_test

import (
	"crypto/sha256"
	"encoding/base64"
	"fmt"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/stretchr/testify/require"
	"golang.org/x/net/html"

	"github.com/sandloop/sandloop/internal/grade"
	"github.com/sandloop/sandloop/internal/grade/report"
)

func parseHTML(t *testing.T, text string) *html.Node {
	t.Helper()
	root, err := html.Parse(strings.NewReader(text))
	require.NoError(t, err)
	return root
}

// elements are those with a tag name below a node, in order.
func elements(root *html.Node, tag string) (found []*html.Node) {
	for node := range root.Descendants() {
		if node.Type == html.ElementNode && node.Data == tag {
			found = append(found, node)
		}
	}
	return found
}

func attr(node *html.Node, name string) string {
	for _, a := range node.Attr {
		if a.Key == name {
			return a.Val
		}
	}
	return ""
}

// text is what a node shows, with white space joined.
func text(node *html.Node) string {
	var words []string
	for child := range node.Descendants() {
		if child.Type == html.TextNode {
			words = append(words, strings.Fields(child.Data)...)
		}
	}
	return strings.Join(words, " ")
}

// section is the part of the page whose heading has an id.
func section(t *testing.T, root *html.Node, id string) *html.Node {
	t.Helper()
	for _, node := range elements(root, "section") {
		if attr(node, "aria-labelledby") == id {
			return node
		}
	}
	require.Fail(t, "no section "+id)
	return nil
}

// rows are the cells' texts of a table's body.
func rows(table *html.Node) (all [][]string) {
	for _, body := range elements(table, "tbody") {
		for _, tr := range elements(body, "tr") {
			var cells []string
			for cell := range tr.ChildNodes() {
				if cell.Type == html.ElementNode {
					cells = append(cells, text(cell))
				}
			}
			all = append(all, cells)
		}
	}
	return all
}

func tableOf(t *testing.T, root *html.Node, id string) [][]string {
	t.Helper()
	return rows(elements(section(t, root, id), "table")[0])
}

func TestPageIsAsWorkedOutByHand(t *testing.T) {
	t.Parallel()
	root := parseHTML(t, write(t, report.WriteHTML, seq(homework()...), "Homework 3"))
	require.Equal(t, "Homework 3", text(elements(root, "title")[0]))
	require.Equal(t, "Homework 3", text(elements(root, "h1")[0]))
	require.Contains(t, text(elements(root, "header")[0]), "Judged 30 November 2026, 06:50 to 06:59 UTC")
	require.Contains(t, text(elements(root, "dl")[0]), "not as promised 1 of 3 internal errors 1 mean score 56.38")

	require.Equal(t, [][]string{{"bo", "AC", "WA", "line 1: got 41, want 42", "7a"}}, tableOf(t, root, "unexpected"))
	require.Equal(t, [][]string{{"AC", "1"}, {"WA", "1"}}, tableOf(t, root, "changes"))
	require.Equal(t, [][]string{{"bo", "AC", "WA", "100", "50", "1", "line 1: got 41, want 42"}}, rows(elements(section(t, root, "changes"), "table")[1]))
	require.Equal(t, [][]string{
		{"AC accepted", "2", "40.0 %", ""}, {"WA wrong answer", "2", "40.0 %", ""}, {"IE internal error", "1", "20.0 %", ""},
	}, tableOf(t, root, "verdicts"))
	require.Equal(t, [][]string{ // group, items, mean score, accepted, AC, WA, IE
		{"7a", "2", "75.00", "50.0 %", "1", "1", "0", ""}, {"7b", "3", "37.75", "33.3 %", "1", "1", "1", ""},
	}, tableOf(t, root, "groups"))
	require.Contains(t, text(section(t, root, "matrix")), "The names of all tests begin with secret/")
	require.Equal(t, [][]string{
		{"ada", "AC", "AC", "AC", "100"}, {"bo", "WA", "AC", "WA", "50"}, {"cy", "WA", "WA", "", "0"}, {"di", "IE", "", "", ""}, {"ed", "AC", "", "", "75.5"},
	}, tableOf(t, root, "matrix"))
	require.Contains(t, text(section(t, root, "times")), "4 items used CPU time: half of them up to about 31.6 ms, 90 % up to 1.50 s,")
	require.Contains(t, text(section(t, root, "times")), "none more than 1.50 s.")
	require.Equal(t, [][]string{
		{"ed", "", "AC", "1.50 s", "1.60 s", ""},
		{"cy", "secret/1", "WA", "40.0 ms", "80.0 ms", "8 MiB"},
		{"bo", "secret/2", "WA", "30.0 ms", "60.0 ms", "8 MiB"},
		{"ada", "secret/2", "AC", "20.0 ms", "40.0 ms", "8 MiB"},
		{"ada", "secret/1", "AC", "10.0 ms", "20.0 ms", "8 MiB"},
		{"bo", "secret/1", "AC", "10.0 ms", "20.0 ms", "8 MiB"},
	}, tableOf(t, root, "slowest"))
	require.Equal(t, [][]string{ // number, item, group, language, promised, before, verdict, score, passed, CPU time, memory, message
		{"1", "bo", "7a", "cpp", "AC", "AC", "WA", "50", "1/2", "30.0 ms", "16 MiB", "line 1: got 41, want 42"},
		{"3", "di", "7b", "java", "", "", "IE", "", "", "0 s", "", "validator: exit code 7"},
		{"2", "cy", "7b", "cpp", "WA or TLE", "WA", "WA", "0", "0/1", "40.0 ms", "8 MiB", ""},
		{"4", "ed", "7b", "java", "", "", "AC", "75.5", "", "1.50 s", "", ""},
		{"0", "ada", "7a", "python", "AC", "", "AC", "100", "2/2", "20.0 ms", "8 MiB", ""},
	}, tableOf(t, root, "items"))
}

func TestPageTellsTheDetailsOfAnItem(t *testing.T) {
	t.Parallel()
	item := homework()[1]
	item.JobID, item.Attempts = "01JOB", 2
	item.Compile = &report.Compile{ExitCode: 0, Duration: ms(800), Output: "warning: unused variable 'x'"}
	item.Groups = &grade.Graded{Verdict: grade.WA, Items: []grade.Graded{
		{Name: "secret/easy", Verdict: grade.AC, Score: score(50), Items: []grade.Graded{{Name: "secret/easy/small", Verdict: grade.AC}}},
		{Name: "secret/hard", Note: "not judged: secret/easy is WA"},
	}}
	item.Tests[0].ExitCode, item.Tests[1].Signal = 3, "SIGSEGV"
	root := parseHTML(t, write(t, report.WriteHTML, seq(item), ""))
	detail := elements(section(t, root, "details"), "details")
	require.Len(t, detail, 1)
	require.Equal(t, "WA bo 7a · 50 · promised AC · line 1: got 41, want 42", text(elements(detail[0], "summary")[0]))
	tables := elements(detail[0], "table")
	require.Equal(t, [][]string{
		{"secret/easy", "AC", "50", ""}, {"secret/easy/small", "AC", "", ""}, {"secret/hard", "-", "", "not judged: secret/easy is WA"},
	}, rows(tables[0]))
	require.Equal(t, [][]string{
		{"secret/1", "AC", "10.0 ms", "20.0 ms", "8 MiB", "exit 3", ""}, {"secret/2", "WA", "30.0 ms", "60.0 ms", "8 MiB", "SIGSEGV", "line 1: got 41, want 42"},
	}, rows(tables[1]))
	pre := elements(detail[0], "pre")
	require.Equal(t, "warning: unused variable 'x'", text(pre[0]))
	require.Equal(t, "41", text(pre[1]))
	require.Contains(t, text(detail[0]), "number 1, cpp, job 01JOB, tried 2 times")
	require.Contains(t, text(detail[0]), "in 800 ms, exit code 0")
	require.Contains(t, text(detail[0]), "wrong answer, promised AC, before accepted (tests judged anew: 1)")
	require.Equal(t, "#"+attr(detail[0], "id"), attr(elements(section(t, root, "items"), "a")[0], "href"))
}

func TestPageOfALargeBatchSaysWhatIsLeftOut(t *testing.T) {
	t.Parallel()
	root := parseHTML(t, write(t, report.WriteHTML, made(6000, func(i int) report.Item {
		item := report.Item{
			Index: i, ID: fmt.Sprint("item-", i), Group: fmt.Sprint("group-", i%1500), Verdict: grade.AC, CPUTime: ms(i + 1),
			Previous: &report.Previous{Verdict: grade.WA}, Expected: []grade.Verdict{grade.AC},
			Tests: []grade.TestReport{test("1", grade.AC, i+1, ""), test("2", grade.AC, 1, "")},
		}
		if i >= 5990 {
			item.Verdict, item.Unexpected = grade.WA, true
		}
		return item
	}), ""))
	details := elements(section(t, root, "details"), "details")
	require.Len(t, details, 500)
	require.Contains(t, text(section(t, root, "details")), "The details of 5,500 items are left out.")
	for i, want := range []string{"item-5990", "item-5999", "item-0", "item-489"} {
		at := []int{0, 9, 10, 499}[i]
		require.Equal(t, want, text(elements(details[at], "b")[0]))
		require.Equal(t, fmt.Sprint("d", at), attr(details[at], "id"))
	}
	items := tableOf(t, root, "items")
	require.Len(t, items, 5000)
	require.Contains(t, text(section(t, root, "items")), "1,000 items are left out.")
	require.Equal(t, "item-5990", items[0][1])
	require.Equal(t, "item-4989", items[4999][1])
	require.Len(t, tableOf(t, root, "unexpected"), 10)
	require.Len(t, tableOf(t, root, "groups"), 200)
	require.Contains(t, text(section(t, root, "groups")), "800 more groups are left out.")
	require.Contains(t, text(section(t, root, "groups")), "2,000 items are of groups beyond the first 1,000")
	require.Len(t, rows(elements(section(t, root, "changes"), "table")[1]), 200)
	require.Contains(t, text(section(t, root, "changes")), "5,790 more are left out.")
	slowest := tableOf(t, root, "slowest")
	require.Len(t, slowest, 20)
	require.Equal(t, []string{"item-5999", "1", "AC", "6.00 s", "12.0 s", "8 MiB"}, slowest[0])
	require.Equal(t, "item-5980", slowest[19][0])
	for _, node := range elements(root, "section") {
		require.NotEqual(t, "matrix", attr(node, "aria-labelledby"), "a matrix of 6,000 items says nothing")
	}
}

func TestPageOfNothing(t *testing.T) {
	t.Parallel()
	root := parseHTML(t, write(t, report.WriteHTML, seq(), ""))
	require.Equal(t, "Batch results", text(elements(root, "h1")[0]))
	require.Empty(t, elements(root, "section"))
}

func TestMatrixHasTheOrderOfTheLongestItem(t *testing.T) {
	t.Parallel()
	root := parseHTML(t, write(t, report.WriteHTML, seq(
		report.Item{Index: 1, ID: "b", Verdict: grade.AC, Tests: []grade.TestReport{test("x/1", grade.AC, 1, ""), test("x/2", grade.AC, 1, ""), test("x/3", grade.AC, 1, "")}},
		report.Item{Index: 0, ID: "a", Verdict: grade.WA, Tests: []grade.TestReport{test("x/1", grade.AC, 1, ""), test("x/3", grade.WA, 7, "no"), test("x/extra", grade.AC, 1, "")}},
	), ""))
	require.Equal(t, [][]string{{"a", "WA", "AC", "", "WA", "AC", ""}, {"b", "AC", "AC", "AC", "AC", "", ""}}, tableOf(t, root, "matrix"))
	require.Contains(t, text(elements(section(t, root, "matrix"), "thead")[0]), "1 2 3 extra")
	var tips []string
	for _, span := range elements(elements(section(t, root, "matrix"), "tbody")[0], "span") {
		tips = append(tips, attr(span, "title"))
	}
	require.Contains(t, tips, "wrong answer, 7.00 ms: no")
}

// allowed are the elements of the page with the attributes that they may have.
var allowed = map[string]string{
	"html": "lang", "head": "", "meta": "charset http-equiv content name", "title": "", "style": "", "body": "", "header": "", "h1": "", "h2": "id", "h3": "",
	"bdi": "", "p": "class", "nav": "aria-label", "a": "href", "main": "", "dl": "class", "div": "class tabindex role aria-labelledby aria-label", "dt": "", "dd": "",
	"section": "aria-labelledby", "table": "class", "thead": "", "tbody": "", "tr": "", "th": "scope class title", "td": "class title", "abbr": "class title",
	"span": "class title", "svg": "width height aria-hidden role aria-label", "rect": "class x y width height rx", "line": "x1 x2 y1 y2", "text": "x y text-anchor",
	"details": "id open", "summary": "", "b": "", "pre": "", "footer": "",
}

func TestPageIsSafeWhateverIsInIt(t *testing.T) {
	t.Parallel()
	bad := test(hostile, grade.WA, 1, hostile)
	bad.Signal, bad.Stdout, bad.Stderr = hostile, stream(strings.Repeat(hostile, 1000)), stream(hostile)
	item := report.Item{
		ID: hostile, Group: hostile, Language: hostile, JobID: hostile, Slowest: hostile, Verdict: grade.Verdict(hostile), Message: strings.Repeat(hostile, 1000),
		Expected: []grade.Verdict{grade.Verdict(hostile)}, Unexpected: true, Previous: &report.Previous{Verdict: grade.Verdict(hostile)},
		Compile: &report.Compile{Output: hostile}, Tests: []grade.TestReport{bad, test(hostile+"2", grade.Verdict(hostile), 1, hostile)},
		Groups: &grade.Graded{Items: []grade.Graded{{Name: hostile, Verdict: grade.Verdict(hostile), Note: hostile}}},
	}
	page := write(t, report.WriteHTML, seq(item, homework()[0]), hostile)
	require.Less(t, len(page), 80_000, "output and messages are cut")
	for _, forbidden := range "\x1b\x00\a\r\x7f\u0085\u202e\ufffe" {
		require.Negative(t, strings.IndexRune(page, forbidden), "%q is in the page", forbidden)
	}
	require.True(t, utf8.ValidString(page))
	root := parseHTML(t, page)
	for node := range root.Descendants() {
		if node.Type == html.CommentNode {
			require.Fail(t, "a comment", node.Data)
		}
		if node.Type != html.ElementNode {
			continue
		}
		attributes, known := allowed[node.Data]
		require.True(t, known, "element %s", node.Data)
		for _, a := range node.Attr {
			require.Contains(t, strings.Fields(attributes), a.Key, "attribute of %s", node.Data)
			if a.Key == "href" {
				require.Regexp(t, `^#[a-z]+[0-9]*$`, a.Val)
			}
		}
	}
	require.Len(t, elements(root, "style"), 1)
	require.Contains(t, text(elements(root, "h1")[0]), "<script>alert(1)</script>", "shown as text")
	pre := elements(root, "pre")
	require.Len(t, pre, 3, "the compiler's output and both streams; the other test has none")
	require.Contains(t, text(pre[1]), "␛[31m␛]0;title␇␀␡")
}

func TestPolicyAllowsTheStyleSheetAndNothingElse(t *testing.T) {
	t.Parallel()
	page := write(t, report.WriteHTML, seq(homework()...), "")
	root := parseHTML(t, page)
	style := elements(root, "style")[0].FirstChild.Data
	sum := sha256.Sum256([]byte(style))
	var policies []string
	for _, meta := range elements(root, "meta") {
		if attr(meta, "http-equiv") == "Content-Security-Policy" {
			policies = append(policies, attr(meta, "content"))
		}
	}
	require.Equal(t, []string{"default-src 'none'; style-src 'sha256-" + base64.StdEncoding.EncodeToString(sum[:]) + "'; base-uri 'none'; form-action 'none'"}, policies)
	require.NotContains(t, style, "url(")
	require.NotContains(t, style, "@import")
	require.NotContains(t, page, "://")
}

func TestPageCanBeUsedWithoutSeeingIt(t *testing.T) {
	t.Parallel()
	root := parseHTML(t, write(t, report.WriteHTML, seq(homework()...), ""))
	for _, th := range elements(root, "th") {
		require.Contains(t, []string{"row", "col"}, attr(th, "scope"), text(th))
	}
	for _, svg := range elements(root, "svg") {
		require.True(t, attr(svg, "aria-hidden") == "true" || attr(svg, "role") == "img" && attr(svg, "aria-label") != "")
	}
	ids := map[string]bool{}
	for node := range root.Descendants() {
		if id := attr(node, "id"); node.Type == html.ElementNode && id != "" {
			require.False(t, ids[id], "id %s twice", id)
			ids[id] = true
		}
	}
	for _, link := range elements(root, "a") {
		require.True(t, ids[strings.TrimPrefix(attr(link, "href"), "#")], attr(link, "href"))
	}
	for _, abbr := range elements(root, "abbr") {
		require.True(t, slices.Contains([]string{"AC", "WA", "IE"}, text(abbr)), "the letters are always there")
		require.NotEmpty(t, attr(abbr, "title"))
	}
}
