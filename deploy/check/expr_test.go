package check

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/prometheus/prometheus/model/labels"
	"github.com/prometheus/prometheus/promql/parser"
	"github.com/stretchr/testify/require"
)

// ofScrape are the labels that Prometheus puts on what it scrapes, as prometheus.yml says.
var ofScrape = []string{"job", "instance", "namespace", "pod"}

// exprProblems tells what is wrong with an expression: that it cannot be parsed, or that it asks for metrics, labels or
// values that no worker has.
func exprProblems(t *testing.T, text string) (problems []string) {
	t.Helper()
	expr, err := parser.NewParser(parser.Options{}).ParseExpr(text)
	if err != nil {
		return []string{err.Error()}
	}
	known := metrics(t)
	parser.Inspect(expr, func(node parser.Node, _ []parser.Node) error {
		switch node := node.(type) {
		case *parser.VectorSelector:
			problems = append(problems, selectorProblems(known, node)...)
		case *parser.AggregateExpr:
			problems = append(problems, groupingProblems(known, node)...)
		case *parser.Call:
			problems = append(problems, callProblems(known, node)...)
		}
		return nil
	})
	return problems
}

func selectorProblems(known map[string]metric, selector *parser.VectorSelector) (problems []string) {
	m, exists := known[selector.Name]
	if !exists {
		return []string{fmt.Sprintf("no worker exports %q", selector.Name)}
	}
	for _, matcher := range selector.LabelMatchers {
		if matcher.Name == labels.MetricName || slices.Contains(ofScrape, matcher.Name) {
			continue
		}
		values, exists := m.labels[matcher.Name]
		switch {
		case !exists:
			problems = append(problems, fmt.Sprintf("%s has no label %q", selector.Name, matcher.Name))
		case values != nil && !slices.ContainsFunc(values, matcher.Matches):
			problems = append(problems, fmt.Sprintf("%s: no value of %s matches %s", selector.Name, matcher.Name, matcher))
		}
	}
	return problems
}

// groupingProblems wants the labels that an aggregation keeps to be on something below it.
func groupingProblems(known map[string]metric, aggregate *parser.AggregateExpr) (problems []string) {
	if aggregate.Without {
		return []string{"without: drops labels that are not known today; name those to keep"}
	}
	has := slices.Clone(ofScrape)
	parser.Inspect(aggregate.Expr, func(node parser.Node, _ []parser.Node) error {
		if selector, is := node.(*parser.VectorSelector); is {
			has = append(has, sortedKeys(known[selector.Name].labels)...)
		}
		return nil
	})
	for _, label := range aggregate.Grouping {
		if !slices.Contains(has, label) {
			problems = append(problems, fmt.Sprintf("by (%s): nothing in %s has it", label, aggregate.Expr))
		}
	}
	return problems
}

// callProblems wants rates of counters only, and changes of gauges only.
func callProblems(known map[string]metric, call *parser.Call) (problems []string) {
	want := map[string]string{"rate": "counter", "increase": "counter", "irate": "counter", "changes": "gauge", "delta": "gauge", "deriv": "gauge"}[call.Func.Name]
	if want == "" {
		return nil
	}
	parser.Inspect(call, func(node parser.Node, _ []parser.Node) error {
		if selector, is := node.(*parser.VectorSelector); is && known[selector.Name].kind != want {
			problems = append(problems, fmt.Sprintf("%s of %s, which is no %s", call.Func.Name, selector.Name, want))
		}
		return nil
	})
	return problems
}

func TestAWrongExpressionIsFound(t *testing.T) {
	t.Parallel()
	for _, right := range []string{
		`sum by (queue) (rate(sandloop_jobs_finished_total{outcome="ok"}[5m]))`,
		`histogram_quantile(0.5, sum by (le, start) (rate(sandloop_container_start_seconds_bucket[5m])))`,
		`max by (job) (sandloop_queue_jobs{state=~"waiting|running", namespace="a"})`,
	} {
		require.Empty(t, exprProblems(t, right), right)
	}
	for wrong, why := range map[string]string{
		`sum(sandloop_queue_jobs{state="waiting"}`:              "unclosed left parenthesis",
		`sandloop_queue_job`:                                    `no worker exports "sandloop_queue_job"`,
		`sandloop_job_run_seconds`:                              `no worker exports "sandloop_job_run_seconds"`,
		`sandloop_queue_jobs{status="waiting"}`:                 `has no label "status"`,
		`sandloop_queue_jobs{state="pending"}`:                  "no value of state",
		`sum by (tenant) (sandloop_queue_jobs)`:                 "by (tenant)",
		`rate(sandloop_queue_bytes[5m])`:                        "no counter",
		`changes(sandloop_jobs_recovered_total[5m])`:            "no gauge",
		`sum without (instance) (sandloop_slots)`:               "without",
		`sum by (le) (rate(sandloop_recovery_seconds_sum[5m]))`: "by (le)",
	} {
		require.Contains(t, strings.Join(exprProblems(t, wrong), "\n"), why, wrong)
	}
}
