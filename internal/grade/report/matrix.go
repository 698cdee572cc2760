package report

import (
	"cmp"
	"slices"
	"strings"

	"github.com/sandloop/sandloop/internal/grade"
)

// A batch of more items or tests has no matrix: it could not be taken in at a glance.
const (
	maxMatrixItems = 200
	maxMatrixTests = 100
)

// matrix is a table of items and tests. It empties itself when it gets too large.
type matrix struct {
	rows     []matrixRow
	names    map[string]bool
	tooLarge bool
}

type matrixRow struct {
	Index          int
	ID             string
	Verdict        grade.Verdict
	Score, Message string
	tests          []matrixTest
}

type matrixTest struct {
	name string
	matrixCell
}

// matrixCell is one test of one item; the zero value was not judged.
type matrixCell struct {
	Verdict grade.Verdict
	// Tip says more when the cell is pointed at.
	Tip string
}

func (m *matrix) add(item Item) {
	if m.tooLarge {
		return
	}
	if m.names == nil {
		m.names = map[string]bool{}
	}
	row := matrixRow{
		Index: item.Index, ID: shorten(item.ID, maxName), Verdict: known(item.Verdict), Score: scoreOf(item.Score),
		Message: headline(item),
	}
	for _, test := range item.Tests {
		m.names[test.Name] = true
		if m.tooLarge = len(m.names) > maxMatrixTests; m.tooLarge {
			break
		}
		tip := verdictName(known(test.Verdict)) + ", " + duration(test.CPUTime)
		if test.Message != "" {
			tip += ": " + shorten(test.Message, maxMessage)
		}
		row.tests = append(row.tests, matrixTest{strings.Clone(test.Name), matrixCell{known(test.Verdict), tip}})
	}
	if m.rows = append(m.rows, row); len(m.rows) > maxMatrixItems || m.tooLarge {
		*m = matrix{tooLarge: true}
	}
}

// matrixView is a matrix as the page shows it.
type matrixView struct {
	// Prefix is what the names of all tests begin with, and Tests are the rests.
	Prefix string
	Tests  []string
	Rows   []matrixRowView
}

type matrixRowView struct {
	matrixRow
	Cells []matrixCell
}

// view sorts the matrix, and is nil unless there are several tests and they are few enough.
func (m *matrix) view() *matrixView {
	if len(m.names) < 2 {
		return nil
	}
	names := m.columns()
	view := &matrixView{Prefix: commonFolder(names)}
	place := map[string]int{}
	for i, name := range names {
		place[name] = i
		view.Tests = append(view.Tests, shorten(strings.TrimPrefix(name, view.Prefix), maxName))
	}
	view.Prefix = shorten(view.Prefix, maxName)
	slices.SortStableFunc(m.rows, func(a, b matrixRow) int { return cmp.Compare(a.Index, b.Index) })
	for _, row := range m.rows {
		cells := make([]matrixCell, len(names))
		for _, test := range row.tests {
			cells[place[test.name]] = test.matrixCell
		}
		view.Rows = append(view.Rows, matrixRowView{row, cells})
	}
	return view
}

// columns are the names of the tests in the order of the item that was judged on most of them, and
// then those that it lacks.
func (m *matrix) columns() []string {
	byLength := slices.Clone(m.rows)
	slices.SortStableFunc(byLength, func(a, b matrixRow) int { return cmp.Compare(len(b.tests), len(a.tests)) })
	var names []string
	placed := map[string]bool{}
	for _, row := range byLength {
		for _, test := range row.tests {
			if !placed[test.name] {
				placed[test.name] = true
				names = append(names, test.name)
			}
		}
	}
	return names
}

// commonFolder is the longest prefix of all names that ends with a slash.
func commonFolder(names []string) string {
	prefix := names[0]
	for _, name := range names {
		for !strings.HasPrefix(name, prefix) {
			prefix = prefix[:len(prefix)-1]
		}
	}
	return prefix[:strings.LastIndexByte(prefix, '/')+1]
}
