package top

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/charmbracelet/x/ansi"

	"github.com/sandloop/sandloop/internal/cli"
	"github.com/sandloop/sandloop/internal/jobs"
)

// Sort is the order of tenants and workers.
type Sort string

// The orders: the most to do first, by name, or the fastest first, which for tenants is who has most under way.
const (
	ByLoad Sort = "load"
	ByName Sort = "name"
	ByRate Sort = "rate"
)

// Sorts lists the orders.
func Sorts() []Sort { return []Sort{ByLoad, ByName, ByRate} }

// ParseSort reads the name of an order.
func ParseSort(name string) (Sort, error) {
	if slices.Contains(Sorts(), Sort(name)) {
		return Sort(name), nil
	}
	return "", fmt.Errorf("sort: %q is unknown: want load, name or rate", name)
}

// Plain is a snapshot as text: every queue, tenant and worker, without anything that only a terminal understands.
func Plain(snapshot Snapshot, sort Sort) string {
	lines := []line{summary(snapshot)}
	lines = append(lines, line{})
	lines = append(lines, queueTable(snapshot, -1)...)
	if tenants := tenantTable(snapshot.Queues, sort); len(tenants) > 1 {
		lines = append(append(lines, line{}), tenants...)
	}
	lines = append(append(lines, line{}), workerTable(snapshot, sort)...)
	var out strings.Builder
	for _, line := range lines {
		out.WriteString(line.text + "\n")
	}
	return out.String()
}

func summary(snapshot Snapshot) line {
	busy, slots := 0, 0
	for _, worker := range snapshot.Workers {
		busy += worker.Running
		slots += worker.Slots()
	}
	var waiting int64
	for _, queue := range snapshot.Queues {
		waiting += queue.Pending
	}
	return line{text: fmt.Sprintf("sandloop %s  waiting %d  workers %d  slots %d/%d", snapshot.At.Local().Format(time.TimeOnly),
		waiting, len(snapshot.Workers), busy, slots)}
}

func queueTable(snapshot Snapshot, chosen int) []line {
	rows := make([][]string, 0, len(snapshot.Queues))
	for _, queue := range snapshot.Queues {
		rows = append(rows, []string{
			string(queue.Queue), number(queue.Pending), number(queue.Running), number(queue.Retry), number(queue.Dead),
			age(inSeconds(queue.OldestSeconds)), perSecond(queue.TakenPerSecond),
		})
	}
	return table([]string{"QUEUE", " WAITING", " RUNNING", " RETRY", " DEAD", " OLDEST", " TAKEN/S"}, rows, chosen)
}

// tenantTable is one table for the tenants of all the queues.
func tenantTable(queues []Queue, sort Sort) []line {
	var rows [][]string
	for _, queue := range queues {
		tenants := slices.Clone(queue.PerTenant)
		slices.SortStableFunc(tenants, func(a, b jobs.TenantStats) int {
			byName := cmp.Compare(a.Tenant, b.Tenant)
			switch sort {
			case ByName:
				return byName
			case ByRate:
				return cmp.Or(cmp.Compare(known(b.Running), known(a.Running)), byName)
			}
			return cmp.Or(cmp.Compare(b.Waiting, a.Waiting), byName)
		})
		for _, tenant := range tenants {
			rows = append(rows, tenantRow(queue.Queue, tenant))
		}
	}
	return table([]string{"TENANT", "QUEUE", " WAITING", " BYTES", " OLDEST", " RUNNING", " WEIGHT", " HELD"}, rows, -1)
}

func workerTable(snapshot Snapshot, sort Sort) []line {
	if len(snapshot.Workers) == 0 {
		return []line{{"no worker is running", warning}}
	}
	workers := slices.Clone(snapshot.Workers)
	slices.SortStableFunc(workers, func(a, b Worker) int {
		byName := cmp.Compare(a.ID, b.ID)
		switch sort {
		case ByName:
			return byName
		case ByRate:
			return cmp.Or(cmp.Compare(known(b.FinishedPerSecond), known(a.FinishedPerSecond)), byName)
		}
		return cmp.Or(cmp.Compare(b.Running, a.Running), byName)
	})
	rows := make([][]string, 0, len(workers))
	for _, worker := range workers {
		rows = append(rows, []string{
			worker.ID, worker.Host, fmt.Sprintf("%d/%d", worker.Running, worker.Slots()),
			age(snapshot.At.Sub(worker.Started)), perSecond(worker.FinishedPerSecond),
		})
	}
	return table([]string{"WORKER", "HOST", " SLOTS", " UP", " JOBS/S"}, rows, -1)
}

// screen is what a terminal of a size shows.
func screen(m *Model, width, height int) []line {
	lines := []line{{text: "sandloop"}}
	known := !m.shown.At.IsZero()
	if known {
		lines[0] = summary(m.shown)
	}
	if m.problem != "" {
		lines = append(lines, line{"Redis does not answer, trying again: " + cli.Printable(m.problem), warning})
	}
	if known {
		lines = append(append(lines, line{}), tables(m, height-len(lines)-3)...)
	}
	lines = append(lines, line{}, line{text: fmt.Sprintf("q quit   ↑↓ queue   s sort: %s", m.sort)})
	for i := range lines {
		lines[i].text = ansi.Truncate(lines[i].text, width, "…")
	}
	return lines[:min(len(lines), max(height, 0))]
}

// tables are what is known, in so many lines. Tenants and workers share what the queues leave.
func tables(m *Model, height int) []line {
	at := m.selection()
	lines := queueTable(m.shown, at)
	var tenants []line
	if at >= 0 {
		tenants = tenantTable(m.shown.Queues[at:at+1], m.sort)
	}
	workers := workerTable(m.shown, m.sort)
	room := height - len(lines) - 2
	upper := max(min(len(tenants), room-len(workers)), min(len(tenants), room/2))
	lines = append(append(lines, line{}), fitted(tenants, upper)...)
	return append(append(lines, line{}), fitted(workers, room-upper)...)
}

// fitted cuts a table to a height, and says how much is not shown.
func fitted(lines []line, height int) []line {
	if len(lines) <= height {
		return lines
	}
	if height < 2 {
		return nil
	}
	shown := slices.Clone(lines[:height-1])
	return append(shown, line{text: fmt.Sprintf("… and %d more", len(lines)-len(shown))})
}

func tenantRow(queue jobs.Queue, tenant jobs.TenantStats) []string {
	name, running, held := tenant.Tenant, "-", "-"
	if name == "" {
		name = "-"
	}
	if tenant.Running != nil {
		running = number(*tenant.Running)
	}
	if !tenant.HeldUntil.IsZero() {
		held = "by its quota"
	}
	return []string{
		name, string(queue), number(tenant.Waiting), size(tenant.Bytes), age(inSeconds(tenant.OldestSeconds)), running,
		strconv.Itoa(tenant.Weight), held,
	}
}

func number(n int64) string { return strconv.FormatInt(n, 10) }

// size is a number of bytes in the largest unit that leaves at least 1.
func size(bytes int64) string {
	if bytes < 1<<10 {
		return number(bytes) + "B"
	}
	scaled, units := float64(bytes)/(1<<10), []string{"KiB", "MiB", "GiB", "TiB"}
	for scaled >= 1<<10 && len(units) > 1 {
		scaled, units = scaled/(1<<10), units[1:]
	}
	return strconv.FormatFloat(scaled, 'f', 1, 64) + units[0]
}

// known is a figure to sort by: what is not known comes last.
func known[T int64 | float64](figure *T) T {
	if figure == nil {
		return -1
	}
	return *figure
}

func inSeconds(seconds float64) time.Duration { return time.Duration(seconds * float64(time.Second)) }

func perSecond(rate *float64) string {
	if rate == nil {
		return "-"
	}
	return strconv.FormatFloat(*rate, 'f', 1, 64)
}

// age is a duration in its two largest units.
func age(d time.Duration) string {
	switch {
	case d <= 0:
		return "-"
	case d < time.Minute:
		return fmt.Sprintf("%.1fs", d.Seconds())
	case d < time.Hour:
		return fmt.Sprintf("%dm%02ds", d/time.Minute, d%time.Minute/time.Second)
	case d < 24*time.Hour:
		return fmt.Sprintf("%dh%02dm", d/time.Hour, d%time.Hour/time.Minute)
	}
	return fmt.Sprintf("%dd%02dh", d/(24*time.Hour), d%(24*time.Hour)/time.Hour)
}
