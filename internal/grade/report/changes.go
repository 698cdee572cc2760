package report

import "github.com/sandloop/sandloop/internal/grade"

// changesView is what became of the verdicts of an earlier grading.
type changesView struct {
	// New are the verdicts that items have now, the columns of the table.
	New  []grade.Verdict
	Rows []changeRow
	// Items are those with another verdict than before.
	Items part[row]
}

// changeRow counts the items with an earlier verdict by the one they have now.
type changeRow struct {
	Old   grade.Verdict
	Cells []changeCell
}

type changeCell struct {
	New   grade.Verdict
	Count int
	// Same tells that the verdict did not change.
	Same bool
}

// changesView is nil when no item was regraded.
func (p *page) changesView() *changesView {
	if p.summary.Regraded == 0 {
		return nil
	}
	before, now := map[grade.Verdict]int{}, map[grade.Verdict]int{}
	for change, n := range p.changed {
		before[change[0]] += n
		now[change[1]] += n
	}
	view := &changesView{New: presentVerdicts(now), Items: partOf(&p.changes)}
	for _, old := range presentVerdicts(before) {
		line := changeRow{Old: old}
		for _, verdict := range view.New {
			line.Cells = append(line.Cells, changeCell{verdict, p.changed[[2]grade.Verdict{old, verdict}], old == verdict})
		}
		view.Rows = append(view.Rows, line)
	}
	return view
}
