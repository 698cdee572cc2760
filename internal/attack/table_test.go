package attack_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/sandloop/sandloop/internal/attack"
)

func TestTheTableSaysWhatWasNotStoppedAndWhatWasNotRun(t *testing.T) {
	t.Parallel()
	report := attack.Report{
		Versions: "Linux 6.1, Docker 20.10",
		Modes:    []attack.Mode{{Name: "a", Title: "mode A"}, {Name: "b", Title: "mode B", Absent: "it is not there"}},
		Attacks: []attack.Attack{
			{Name: "bomb", Class: "memory", Tries: "much", Control: "a limit"},
			{Name: "worm", Class: "files", Tries: "all", Control: "none"},
			{Name: "late", Class: "wall", Tries: "time", Control: "a clock"},
		},
		Cells: map[string]map[string]attack.Cell{
			"bomb": {"a": {Verdict: attack.Stopped}},
			"worm": {"a": {Verdict: attack.NotStopped, Why: "wall_timeout: said <b>|`*x*`\n" + strings.Repeat("é", 300)}},
		},
	}
	require.Equal(t, `3 attacks against Linux 6.1, Docker 20.10.

| attack | tries | control | mode A | mode B |
|---|---|---|---|---|
| memory: bomb | much | a limit | stopped | not run |
| files: worm | all | none | **NOT STOPPED** | not run |
| wall: late | time | a clock | not run | not run |

- not run, mode B: it is not there
- not stopped, worm (mode A): wall_timeout: said .b....x.. `+strings.Repeat("é", 300)+`
`, report.Markdown())
}

func TestATableOfStoppedAttacksHasNoNotes(t *testing.T) {
	t.Parallel()
	report := attack.Report{
		Modes: []attack.Mode{{Name: "a", Title: "A"}}, Attacks: []attack.Attack{{Name: "x", Class: "c", Tries: "t", Control: "k"}},
		Cells: map[string]map[string]attack.Cell{"x": {"a": {Verdict: attack.Stopped}}},
	}
	require.True(t, strings.HasSuffix(report.Markdown(), "| c: x | t | k | stopped |\n"), report.Markdown())
}

func TestTheTableReplacesWhatIsBetweenTheMarkers(t *testing.T) {
	t.Parallel()
	got, err := attack.Splice([]byte("before\n"+attack.BeginMarker+"\nold\n"+attack.EndMarker+"\nafter\n"), "new\n")
	require.NoError(t, err)
	require.Equal(t, "before\n"+attack.BeginMarker+"\nnew\n"+attack.EndMarker+"\nafter\n", string(got))
	again, err := attack.Splice(got, "new\n")
	require.NoError(t, err)
	require.Equal(t, string(got), string(again))
	const begin, end = attack.BeginMarker, attack.EndMarker
	for _, document := range []string{"", begin, end + begin, begin + begin + end} {
		_, err := attack.Splice([]byte(document), "new")
		require.ErrorContains(t, err, "document: ", document)
	}
}

func TestOneNoteTellsOfAllModesWithTheSameReason(t *testing.T) {
	t.Parallel()
	cell := attack.Cell{Verdict: attack.NotStopped, Why: "seen"}
	report := attack.Report{
		Modes: []attack.Mode{{Name: "a", Title: "A"}, {Name: "b", Title: "B"}, {Name: "c", Title: "C"}},
		Attacks: []attack.Attack{{
			Name: "x", Class: "c", Tries: "t", Control: "k", Known: map[string]string{"a": "known", "b": "known"},
		}},
		Cells: map[string]map[string]attack.Cell{"x": {"a": cell, "b": cell, "c": cell}},
	}
	require.True(t, strings.HasSuffix(report.Markdown(), "\n\n- not stopped, x (A; B): known\n- not stopped, x (C): seen\n"), report.Markdown())
}
