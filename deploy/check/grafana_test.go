package check

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// panel is the part of a panel of Grafana that can be wrong without anybody seeing it.
type panel struct {
	ID      int    `json:"id"`
	Type    string `json:"type"`
	Title   string `json:"title"`
	GridPos struct{ X, Y, W, H int }
	Targets []struct {
		Expr       string `json:"expr"`
		Datasource struct {
			UID string `json:"uid"`
		} `json:"datasource"`
	} `json:"targets"`
}

type dashboard struct {
	Title      string  `json:"title"`
	UID        string  `json:"uid"`
	Panels     []panel `json:"panels"`
	Templating struct {
		List []struct {
			Name       string `json:"name"`
			Type       string `json:"type"`
			Definition string `json:"definition"`
		} `json:"list"`
	} `json:"templating"`
}

func grafana(t *testing.T) dashboard {
	t.Helper()
	var d dashboard
	require.NoError(t, json.Unmarshal(read(t, "../grafana/sandloop.json"), &d))
	require.Equal(t, "sandloop", d.UID)
	return d
}

// filled puts in what Grafana does.
func filled(expr string) string {
	return strings.NewReplacer("$job", "sandloop", "$queue", ".+", "$__rate_interval", "1m").Replace(expr)
}

func TestTheDashboardAsksForWhatWorkersExport(t *testing.T) {
	t.Parallel()
	d := grafana(t)
	for _, p := range d.Panels {
		if p.Type == "row" {
			continue
		}
		require.NotEmpty(t, p.Targets, p.Title)
		for _, target := range p.Targets {
			expr := filled(target.Expr)
			require.NotContains(t, expr, "$", p.Title)
			require.Empty(t, exprProblems(t, expr), p.Title)
			require.Contains(t, target.Expr, `job="$job"`, "%s: one installation at a time", p.Title)
			require.Equal(t, "${datasource}", target.Datasource.UID, p.Title)
		}
	}
	known := metrics(t)
	for _, variable := range d.Templating.List {
		if variable.Type == "query" {
			name := strings.FieldsFunc(variable.Definition, func(r rune) bool { return strings.ContainsRune("({,) ", r) })[1]
			require.Contains(t, known, name, variable.Name)
		}
	}
}

func TestThePanelsOfTheDashboardDoNotOverlap(t *testing.T) {
	t.Parallel()
	taken := map[[2]int]string{}
	ids := map[int]bool{}
	for _, p := range grafana(t).Panels {
		require.False(t, ids[p.ID], "the id of %s is used twice", p.Title)
		ids[p.ID] = true
		require.LessOrEqual(t, p.GridPos.X+p.GridPos.W, 24, p.Title)
		for x := p.GridPos.X; x < p.GridPos.X+p.GridPos.W; x++ {
			for y := p.GridPos.Y; y < p.GridPos.Y+p.GridPos.H; y++ {
				require.Empty(t, taken[[2]int{x, y}], "%s lies over another panel", p.Title)
				taken[[2]int{x, y}] = p.Title
			}
		}
	}
	require.Greater(t, len(ids), 30)
}
