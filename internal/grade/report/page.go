package report

import (
	"github.com/sandloop/sandloop/internal/grade"
	"github.com/sandloop/sandloop/internal/sandbox"
)

// How many of each the page shows; it says how many are left out.
const (
	maxDetails    = 500
	maxRows       = 5000
	maxUnexpected = 200
	maxChanges    = 200
	maxSlowest    = 20
	maxGroupRows  = 200
)

// page collects what the page shows of a batch. Its size is bounded whatever the number of items.
type page struct {
	summary    Summary
	times      histogram
	groups     groupTable
	matrix     matrix
	rows       top[row]
	details    top[*detail]
	unexpected top[row]
	changes    top[row]
	slowest    top[slowTest]
	// changed counts the items by the verdict they had and the one they have.
	changed map[[2]grade.Verdict]int
}

// slowTest is a test of an item, or an item whose tests are not known.
type slowTest struct {
	cpu               sandbox.Seconds
	arrival           int
	ID, Test          string
	Verdict           grade.Verdict
	CPU, Wall, Memory string
}

func newPage() *page {
	byRank := func(a, b row) bool { return a.before(b.rank) }
	return &page{
		rows:       top[row]{keep: maxRows, before: byRank},
		unexpected: top[row]{keep: maxUnexpected, before: byRank},
		changes:    top[row]{keep: maxChanges, before: byRank},
		details:    top[*detail]{keep: maxDetails, before: func(a, b *detail) bool { return a.before(b.rank) }},
		slowest: top[slowTest]{keep: maxSlowest, before: func(a, b slowTest) bool {
			return a.cpu > b.cpu || a.cpu == b.cpu && a.arrival < b.arrival
		}},
		changed: map[[2]grade.Verdict]int{},
	}
}

func (p *page) add(item Item) {
	p.summary.Add(item)
	p.times.add(item.CPUTime)
	p.groups.add(item)
	p.matrix.add(item)
	p.addSlow(item)

	ranked := row{rank: newRank(item, p.summary.Items)}
	if p.rows.wants(ranked) {
		p.rows.put(newRow(item, ranked.rank))
	}
	if p.details.wants(&detail{row: ranked}) {
		p.details.put(newDetail(item, newRow(item, ranked.rank)))
	}
	if item.Unexpected && p.unexpected.wants(ranked) {
		p.unexpected.put(newRow(item, ranked.rank))
	}
	if item.Previous == nil {
		return
	}
	before, now := known(item.Previous.Verdict), known(item.Verdict)
	p.changed[[2]grade.Verdict{before, now}]++
	if before != now && p.changes.wants(ranked) {
		p.changes.put(newRow(item, ranked.rank))
	}
}

func (p *page) addSlow(item Item) {
	add := func(test grade.TestReport) {
		slow := slowTest{cpu: test.CPUTime, arrival: p.slowest.seen}
		if test.CPUTime <= 0 || !p.slowest.wants(slow) {
			return
		}
		slow.ID, slow.Test, slow.Verdict = shorten(item.ID, maxName), shorten(test.Name, maxName), known(test.Verdict)
		slow.CPU, slow.Wall, slow.Memory = duration(test.CPUTime), duration(test.WallTime), memory(test.PeakMemory)
		p.slowest.put(slow)
	}
	for _, test := range item.Tests {
		add(test)
	}
	if len(item.Tests) == 0 {
		whole := grade.TestReport{Name: item.Slowest, CPUTime: item.CPUTime, WallTime: item.WallTime, PeakMemory: item.PeakMemory}
		whole.Verdict = item.Verdict
		add(whole)
	}
}
