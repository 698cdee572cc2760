package report

import (
	"cmp"
	"slices"

	"github.com/sandloop/sandloop/internal/grade"
)

// maxGroups bounds the groups that are told apart; the items of later ones are counted together.
const maxGroups = 1000

// groupRow is what the items of a group have in common.
type groupRow struct {
	Name     string
	Items    int
	counts   map[grade.Verdict]int
	scored   int
	scoreSum float64
}

// Count is the number of the group's items with a verdict.
func (g *groupRow) Count(v grade.Verdict) int { return g.counts[v] }

// Accepted is the share of the group's items that are accepted.
func (g *groupRow) Accepted() string { return percent(g.counts[grade.AC], g.Items) }

// Score is the mean of the scores.
func (g *groupRow) Score() string {
	if g.scored == 0 {
		return ""
	}
	return meanText(g.scoreSum / float64(g.scored))
}

func (g *groupRow) add(item Item) {
	if g.counts == nil {
		g.counts = map[grade.Verdict]int{}
	}
	g.Items++
	g.counts[known(item.Verdict)]++
	if item.Score != nil {
		g.scored++
		g.scoreSum += *item.Score
	}
}

// groupTable tells groups apart as long as there are not too many.
type groupTable struct {
	rows map[string]*groupRow
	// others counts the items of groups for which there was no more room.
	others groupRow
}

func (t *groupTable) add(item Item) {
	row, found := t.rows[item.Group]
	switch {
	case !found && len(t.rows) >= maxGroups:
		row = &t.others
	case !found:
		if t.rows == nil {
			t.rows = map[string]*groupRow{}
		}
		row = &groupRow{Name: shorten(item.Group, maxName)}
		t.rows[item.Group] = row
	}
	row.add(item)
}

// sorted returns the groups with the highest score or share of accepted items first, and
// nothing when no item has a group.
func (t *groupTable) sorted() []*groupRow {
	if _, unnamed := t.rows[""]; len(t.rows) == 0 || unnamed && len(t.rows) == 1 {
		return nil
	}
	rows := make([]*groupRow, 0, len(t.rows))
	for _, row := range t.rows {
		rows = append(rows, row)
	}
	slices.SortFunc(rows, func(a, b *groupRow) int {
		return cmp.Or(
			cmp.Compare(share(b.scoreSum, b.scored), share(a.scoreSum, a.scored)),
			cmp.Compare(share(float64(b.counts[grade.AC]), b.Items), share(float64(a.counts[grade.AC]), a.Items)),
			cmp.Compare(a.Name, b.Name),
		)
	})
	return rows
}

func share(part float64, of int) float64 {
	if of == 0 {
		return 0
	}
	return part / float64(of)
}
