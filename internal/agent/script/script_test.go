package script_test

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/sandloop/sandloop/internal/agent"
	"github.com/sandloop/sandloop/internal/agent/script"
)

const good = `
task: Add the numbers.
turns:
- say: I write a file.
  calls:
  - tool: write_file
    arguments: {path: a.txt, content: "1\n2\n"}
  - {tool: list_files}
- expect: [wrote, a.txt]
  fail:
  - {kind: overloaded, retry_after: 2s}
  say: Three.
`

func parse(t *testing.T, text string) *script.Model {
	t.Helper()
	s, err := script.Parse([]byte(text))
	require.NoError(t, err)
	return script.NewModel(s)
}

func next(t *testing.T, m *script.Model, results ...string) (agent.AssistantTurn, error) {
	t.Helper()
	message := agent.Message{Role: agent.RoleTool}
	for _, text := range results {
		message.Results = append(message.Results, agent.ToolResult{Text: text})
	}
	return m.NextTurn(t.Context(), &agent.Transcript{Messages: []agent.Message{message}}, nil, nil)
}

func TestTurnsAreSaidInOrder(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "s.yaml")
	require.NoError(t, os.WriteFile(path, []byte(good), 0o600))
	s, err := script.Load(path)
	require.NoError(t, err)
	require.Equal(t, "Add the numbers.", s.Task)
	m := script.NewModel(s)
	var pieces []string
	turn, err := m.NextTurn(t.Context(), &agent.Transcript{}, nil, func(piece string) { pieces = append(pieces, piece) })
	require.NoError(t, err)
	require.Equal(t, []string{"I ", "write ", "a ", "file."}, pieces)
	require.Equal(t, "I write a file.", turn.Text)
	require.Equal(t, agent.FinishDone, turn.Finish)
	require.Len(t, turn.Calls, 2)
	require.Equal(t, "write_file", turn.Calls[0].Name)
	require.JSONEq(t, `{"path":"a.txt","content":"1\n2\n"}`, turn.Calls[0].Arguments)
	require.Equal(t, "{}", turn.Calls[1].Arguments)
	require.NotEqual(t, turn.Calls[0].ID, turn.Calls[1].ID)

	_, err = next(t, m, "wrote 4 bytes", "a.txt")
	var failure *agent.ProviderError
	require.ErrorAs(t, err, &failure)
	require.Equal(t, agent.Overloaded, failure.Kind)
	require.Equal(t, 2*time.Second, failure.RetryAfter)
	turn, err = next(t, m, "wrote 4 bytes", "a.txt")
	require.NoError(t, err)
	require.Equal(t, "Three.", turn.Text)
	require.Empty(t, turn.Calls)

	_, err = next(t, m)
	require.EqualError(t, err, "model provider: request not accepted: the script has no turn after its 2")
}

func TestResultsThatAreNotAsExpectedEndTheScript(t *testing.T) {
	t.Parallel()
	m := parse(t, good)
	_, err := next(t, m)
	require.NoError(t, err)
	_, err = next(t, m, "wrote 4 bytes", "no such file")
	require.EqualError(t, err, `model provider: request not accepted: line 9: turns[1].expect: "a.txt" is in none of the results before it`)
	var failure *agent.ProviderError
	require.ErrorAs(t, err, &failure)
	require.False(t, failure.Temporary())
}

func TestEndOfTheContextIsItsCause(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithCancelCause(t.Context())
	cause := errors.New("enough")
	cancel(cause)
	_, err := parse(t, good).NextTurn(ctx, &agent.Transcript{}, nil, nil)
	require.ErrorIs(t, err, cause)
}

func TestFilesThatAreNoScriptAreRefused(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"":                                       "EOF",
		"task: [":                                "line 1: did not find expected node content",
		"task: x":                                "turns: there are none: want at least one",
		"tusk: x":                                `line 1: field "tusk" is not known: want task, turns`,
		"turns: abc":                             "line 1: cannot unmarshal !!str `abc` into []script.Turn",
		"turns:\n- says: x":                      `line 2: field "says" is not known: want expect, fail, say, calls`,
		"turns:\n- say: x\n- expect: [y]":        "line 3: turns[1]: says nothing and calls no tool: want say or calls",
		"turns:\n- calls: [{arguments: {}}]":     "line 2: turns[0].calls[0].tool: is empty: want the name of a tool",
		"turns:\n- calls: [{tool: x, args: {}}]": `line 2: field "args" is not known: want tool, arguments`,
		"turns:\n- say: x\n  fail: [{kind: tired}]":                          `line 2: turns[0].fail[0].kind: "tired" is not known: want "rate limit", "overloaded"`,
		"turns:\n- say: x\n  fail: [{kind: overloaded, retry_after: -1s}]":   "line 2: turns[0].fail[0].retry_after: -1s is negative: want 0 or more",
		"turns:\n- say: x\n  fail: [{kind: overloaded, retry_after: later}]": "line 3: cannot unmarshal !!str `later` into time.Duration",
	} {
		_, err := script.Parse([]byte(text))
		require.ErrorContains(t, err, want, text)
	}
	_, err := script.Load(filepath.Join(t.TempDir(), "none.yaml"))
	require.ErrorIs(t, err, os.ErrNotExist)
	path := filepath.Join(t.TempDir(), "bad.yaml")
	require.NoError(t, os.WriteFile(path, []byte("task: x"), 0o600))
	_, err = script.Load(path)
	require.ErrorContains(t, err, "script "+path+": turns: there are none")
}
