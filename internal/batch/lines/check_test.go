package lines

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/sandloop/sandloop/internal/batch"
)

func lineOf(id string) string { return fmt.Sprintf(`{"id":%q,"language":"python","code":"x"}`, id) }

func TestEmptyLinesAndAMarkOfByteOrderAreLeftOut(t *testing.T) {
	t.Parallel()
	s := settings(t)
	content := "\ufeff" + lineOf("a") + "\r\n\n  \n" + lineOf("b")
	var seen []string
	count, err := s.Check(t.Context(), strings.NewReader(content), func(index int, entry batch.Entry) error {
		seen = append(seen, fmt.Sprint(index, entry.ID))
		return nil
	})
	require.NoError(t, err)
	require.Equal(t, 2, count)
	require.Equal(t, []string{"0a", "1b"}, seen)
	var ids []string
	for entry, err := range s.Entries(strings.NewReader(content)) {
		require.NoError(t, err)
		ids = append(ids, entry.ID)
	}
	require.Equal(t, []string{"a", "b"}, ids)
}

func TestARepeatedIDIsNamedWithBothLines(t *testing.T) {
	t.Parallel()
	_, got := check(t, settings(t), lineOf("a"), lineOf("b"), "", lineOf("a"), `{"id":"b"}`, lineOf("c"))
	require.Equal(t, `line 5 ("b"): language: is not given: want it here, or --language for all lines`+"\n"+
		`line 4: id: "a" is that of line 1, too: want a name that no other line has`+"\n"+
		`line 5: id: "b" is that of line 2, too: want a name that no other line has`, got)
}

func TestTwentyProblemsAreToldAndTheRestCounted(t *testing.T) {
	t.Parallel()
	batch := make([]string, 25)
	for i := range batch {
		batch[i] = "{}"
	}
	_, got := check(t, settings(t), batch...)
	told := strings.Split(got, "\n")
	require.Len(t, told, 21)
	require.Contains(t, told[19], "line 20: ")
	require.Equal(t, "and 5 more lines are wrong", told[20])
}

func TestAllThatIsWrongWithALineIsToldAtOnce(t *testing.T) {
	t.Parallel()
	_, got := check(t, settings(t), `{"id":"a","language":7,"tests":[{"expected":1}],"more":true}`)
	require.Equal(t, `line 1 ("a"): language: is a JSON number: want a string; `+
		`tests[0].expected: is a JSON number: want a string or {"base64": "..."}; `+
		`more: is an unknown field: want one of id, group, language, code, files, main, args, env, stdin, expected, tests, checker, limits, unit, expect`, got)
}

func TestAnEmptyBatchIsRefused(t *testing.T) {
	t.Parallel()
	_, got := check(t, settings(t), "", "  ")
	require.Contains(t, got, "there is nothing in the batch")
}

func TestCheckingEndsWhenAsked(t *testing.T) {
	t.Parallel()
	s, stop := settings(t), errors.New("stop")
	content := strings.NewReader(lineOf("a") + "\n" + lineOf("b"))
	_, err := s.Check(t.Context(), content, func(int, batch.Entry) error { return stop })
	require.ErrorIs(t, err, stop)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	_, err = s.Check(ctx, content, nil)
	require.ErrorIs(t, err, context.Canceled)
}

func TestAFileThatChangedBetweenCheckAndRunEndsTheRun(t *testing.T) {
	t.Parallel()
	var got []error
	for _, err := range settings(t).Entries(strings.NewReader(lineOf("a") + "\n{}\n" + lineOf("b"))) {
		got = append(got, err)
	}
	require.Len(t, got, 2)
	require.NoError(t, got[0])
	require.ErrorContains(t, got[1], "line 2: id")
}
