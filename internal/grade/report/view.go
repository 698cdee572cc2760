package report

import (
	"fmt"
	"html/template"

	"github.com/sandloop/sandloop/internal/grade"
)

// view is what the page's templates show. Lists that are empty are not shown.
type view struct {
	Title, Period string
	// Style is the style sheet, and StyleHash what the page's policy allows.
	Style      template.CSS
	StyleHash  string
	Figures    []figure
	Verdicts   []verdictBar
	Unexpected part[row]
	Changes    *changesView
	Times      *timesView
	Slowest    []slowTest
	Groups     *groupsView
	Matrix     *matrixView
	Details    part[*detail]
	Rows       part[row]
	Columns    columns
}

// part is the first of many, and how many are left out.
type part[T any] struct {
	List []T
	Left int
}

func partOf[T any](t *top[T]) part[T] { return part[T]{t.sorted(), t.left()} }

// columns tells which columns some item has something for.
type columns struct{ Group, Score, Previous, Expected bool }

// verdictBar is a verdict with its share of the items.
type verdictBar struct {
	Verdict grade.Verdict
	Count   int
	Share   string
	Width   string
}

// groupsView is the table of groups.
type groupsView struct {
	Verdicts []grade.Verdict
	Rows     []*groupRow
	// Left counts the groups without a row, MoreItems the items of groups that are not even counted.
	Left, MoreItems int
	Score           bool
}

func (p *page) view(o Options) view {
	s := p.summary
	v := view{
		Title: o.title(), Period: period(s.First, s.Last), Style: style, StyleHash: styleHash, Figures: s.figures(),
		Unexpected: partOf(&p.unexpected), Changes: p.changesView(), Times: newTimesView(&p.times), Slowest: p.slowest.sorted(),
		Matrix: p.matrix.view(), Details: partOf(&p.details), Rows: partOf(&p.rows),
	}
	present := presentVerdicts(s.Verdicts)
	for _, verdict := range present {
		n := s.Verdicts[verdict]
		v.Verdicts = append(v.Verdicts, verdictBar{verdict, n, percent(n, s.Items), width(n, s.Items)})
	}
	if rows := p.groups.sorted(); rows != nil {
		v.Groups = &groupsView{present, rows, 0, p.groups.others.Items, s.Scored > 0}
		if v.Groups.Left = len(rows) - maxGroupRows; v.Groups.Left > 0 {
			v.Groups.Rows = rows[:maxGroupRows]
		}
	}
	v.Columns = columns{v.Groups != nil, s.Scored > 0, s.Regraded > 0, s.Promised > 0}
	return v
}

// presentVerdicts are those that occur, in their order.
func presentVerdicts(counts map[grade.Verdict]int) []grade.Verdict {
	var present []grade.Verdict
	for _, verdict := range verdicts {
		if counts[verdict] > 0 {
			present = append(present, verdict)
		}
	}
	return present
}

// width is that of a bar in SVG, wide enough to be seen.
func width(n, of int) string {
	if n == 0 {
		return "0"
	}
	return fmt.Sprintf("%.2f%%", max(0.5, 100*float64(n)/float64(of)))
}

// mixBar is a piece of the bar that shows a group's verdicts.
type mixBar struct {
	Verdict     grade.Verdict
	Start, Size string
}

// Mix is the bar of a group's verdicts.
func (g *groupRow) Mix() []mixBar {
	var bars []mixBar
	before := 0
	for _, verdict := range presentVerdicts(g.counts) {
		n := g.counts[verdict]
		bars = append(bars, mixBar{verdict, fmt.Sprintf("%.2f%%", 100*share(float64(before), g.Items)), fmt.Sprintf("%.2f%%", 100*share(float64(n), g.Items))})
		before += n
	}
	return bars
}
