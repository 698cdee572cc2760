//go:build faults

package faults_test

import (
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"
)

// row is what became of the jobs of one cell.
type row struct {
	fault string
	phase phase
	jobs  int
	// ok and infra are outcomes, attempts all tries, ends the runs that were seen to come to their end.
	ok, infra, attempts, ends int
	// dropped are results that came too late, resubmitted jobs that Redis had forgotten.
	dropped, resubmitted int
	// recoveries are the times from the fault to the start of the attempt that gave the result, of jobs that needed another one.
	recoveries []time.Duration
	// settled is when the last result was there, from the end of the fault.
	settled time.Duration
	log     string
}

type table struct {
	mu   sync.Mutex
	rows []row
}

func (t *table) add(r row) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.rows = append(t.rows, r)
}

// publish prints the cells that held. What failed is in the test's own output.
func (t *table) publish(to *testing.T) {
	t.mu.Lock()
	defer t.mu.Unlock()
	var text strings.Builder
	text.WriteString("| fault | phase | jobs | results | ok | infra_error | attempts | runs to the end | dropped | submitted again | next start p50 | max | all done after | left over | log |\n")
	text.WriteString("|---|---|---|---|---|---|---|---|---|---|---|---|---|---|---|\n")
	for _, r := range t.rows {
		p50, most := quantiles(r.recoveries)
		fmt.Fprintf(&text, "| %s | %s | %d | %d | %d | %d | %d | %d | %d | %d | %s | %s | %.1f s | 0 | %s |\n", r.fault, r.phase, r.jobs, r.ok+r.infra,
			r.ok, r.infra, r.attempts, r.ends, r.dropped, r.resubmitted, p50, most, r.settled.Seconds(), r.log)
	}
	publish(to, text.String())
}

func quantiles(times []time.Duration) (p50, most string) {
	if len(times) == 0 {
		return "-", "-"
	}
	sorted := slices.Sorted(slices.Values(times))
	return fmt.Sprintf("%.1f s", sorted[len(sorted)/2].Seconds()), fmt.Sprintf("%.1f s", sorted[len(sorted)-1].Seconds())
}
