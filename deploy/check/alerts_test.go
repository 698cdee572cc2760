package check

import (
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"sigs.k8s.io/yaml"
)

// rules are the alerts; promtool checks the rest of the file.
type rules struct {
	Groups []struct {
		Name  string `json:"name"`
		Rules []struct {
			Alert       string            `json:"alert"`
			Expr        string            `json:"expr"`
			For         string            `json:"for"`
			Labels      map[string]string `json:"labels"`
			Annotations map[string]string `json:"annotations"`
		} `json:"rules"`
	} `json:"groups"`
}

func alerts(t *testing.T) rules {
	t.Helper()
	var all rules
	require.NoError(t, yaml.UnmarshalStrict(read(t, "../prometheus/alerts.yml"), &all))
	require.NotEmpty(t, all.Groups)
	return all
}

func TestAlertsAskForWhatWorkersExport(t *testing.T) {
	t.Parallel()
	for _, group := range alerts(t).Groups {
		for _, rule := range group.Rules {
			require.Empty(t, exprProblems(t, rule.Expr), rule.Alert)
			require.Contains(t, []string{"critical", "warning"}, rule.Labels["severity"], rule.Alert)
			require.NotEmpty(t, rule.Annotations["summary"], rule.Alert)
		}
	}
}

// The name of an alert is a heading of the page, so whoever is woken finds what to do.
func TestEachAlertHasItsPlaceInTheRunbookAndItsTest(t *testing.T) {
	t.Parallel()
	page := string(read(t, "../../docs/operations.md"))
	var headings, names []string
	for _, heading := range regexp.MustCompile(`(?m)^#+ (Sandloop\w+)$`).FindAllStringSubmatch(page, -1) {
		headings = append(headings, heading[1])
	}
	tested := map[string]bool{}
	var tests struct {
		Tests []struct {
			AlertRuleTest []struct {
				Alertname string `json:"alertname"`
				ExpAlerts []any  `json:"exp_alerts"`
			} `json:"alert_rule_test"`
		} `json:"tests"`
	}
	require.NoError(t, yaml.Unmarshal(read(t, "../prometheus/alerts_test.yml"), &tests))
	for _, test := range tests.Tests {
		for _, one := range test.AlertRuleTest {
			tested[one.Alertname] = tested[one.Alertname] || len(one.ExpAlerts) > 0
		}
	}
	for _, group := range alerts(t).Groups {
		for _, rule := range group.Rules {
			names = append(names, rule.Alert)
			require.Equal(t, "docs/operations.md#"+strings.ToLower(rule.Alert), rule.Annotations["runbook"])
			require.True(t, tested[rule.Alert], "no test of alerts_test.yml sees %s fire", rule.Alert)
		}
	}
	require.Equal(t, names, headings, "in the order of the rules")
}
