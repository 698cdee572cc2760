package anthropic_test

import (
	"os"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/sandloop/sandloop/internal/agent"
	"github.com/sandloop/sandloop/internal/agent/anthropic"
	"github.com/sandloop/sandloop/internal/agent/wiretest"
)

func TestTextComesInPiecesAndAsAWhole(t *testing.T) {
	t.Parallel()
	b := setup(t, recorded("text"))
	turn, err := b.next(task("Six times seven?"))
	require.NoError(t, err)
	require.Equal(t, agent.AssistantTurn{
		Text: "Six times seven – 42.", Finish: agent.FinishDone, Model: "claude-sonnet-4-5-20250929",
		Usage: agent.Usage{Input: 12, Output: 15, CacheRead: 2000, CacheWrite: 100},
	}, turn)
	require.Equal(t, []string{"Six times ", "seven – 42."}, b.pieces)
}

func TestSeveralCallsInATurn(t *testing.T) {
	t.Parallel()
	b := setup(t, recorded("parallel"))
	turn, err := b.next(task("Run."))
	require.NoError(t, err)
	require.Equal(t, agent.AssistantTurn{
		Text: "I run it and look.", Finish: agent.FinishDone, Model: "claude-sonnet-4-5-20250929",
		Usage: agent.Usage{Input: 500, Output: 77},
		Calls: []agent.ToolCall{
			{ID: "toolu_01", Name: "run_code", Arguments: `{"language": "python", "code": "print(6*7)"}`},
			{ID: "toolu_02", Name: "list_files", Arguments: `{}`},
		},
	}, turn)
}

func TestThoughtsGoBackUnchangedToTheModelThatHadThem(t *testing.T) {
	t.Parallel()
	b := setupWith(t, anthropic.Options{Model: "claude-sonnet-4-5", MaxTokens: 100}, recorded("thinking"), recorded("text"))
	turn, err := b.next(task("Multiply."))
	require.NoError(t, err)
	require.Equal(t, "First.\n\nSecond.", turn.Text)
	require.Equal(t, turn.Text, strings.Join(b.pieces, ""))
	require.Equal(t, []agent.ToolCall{{ID: "toolu_03", Name: "run_code", Arguments: `{"code":"1"}`}}, turn.Calls)

	transcript := task("Multiply.")
	transcript.Messages = append(transcript.Messages,
		agent.Message{Role: agent.RoleAssistant, Text: turn.Text, Calls: turn.Calls, Opaque: turn.Opaque},
		agent.Message{Role: agent.RoleTool, Results: []agent.ToolResult{{CallID: "toolu_03", Text: "1"}}})
	_, err = b.next(transcript)
	require.NoError(t, err)
	b.server.RequireBody(1, "testdata/thoughts.json")

	other := setupWith(t, anthropic.Options{Model: "claude-haiku-4-5", MaxTokens: 100}, recorded("text"), recorded("text"), recorded("text"))
	_, err = other.next(transcript)
	require.NoError(t, err)
	other.server.RequireBody(0, "testdata/others_thoughts.json")

	transcript.Messages[1].Opaque = []byte(`{"provider":"openai","model":"claude-haiku-4-5","parts":[{"type":"text","text":"x"}]}`)
	_, err = other.next(transcript)
	require.NoError(t, err)
	other.server.RequireBody(1, "testdata/others_thoughts.json")

	// A thought that was cut has no signature, a call that was cut may be gone, and one may have got another id.
	transcript.Messages[1].Opaque = []byte(`{"provider":"anthropic","model":"claude-haiku-4-5","parts":[{"type":"thinking","thinking":"Hm"},
		{"type":"text","text":"First.\n\nSecond."},{"type":"tool_use","id":"toolu_gone"}]}`)
	_, err = other.next(transcript)
	require.NoError(t, err)
	other.server.RequireBody(2, "testdata/others_thoughts.json")
}

func TestWhyAModelStops(t *testing.T) {
	t.Parallel()
	shape, err := os.ReadFile("testdata/malformed.sse")
	require.NoError(t, err)
	for reason, want := range map[string]agent.Finish{
		"end_turn": agent.FinishDone, "tool_use": agent.FinishDone, "stop_sequence": agent.FinishDone, "unheard_of": agent.FinishDone,
		"max_tokens": agent.FinishLength, "model_context_window_exceeded": agent.FinishLength,
		"refusal": agent.FinishRefusal, "pause_turn": agent.FinishPause,
	} {
		t.Run(reason, func(t *testing.T) {
			t.Parallel()
			turn, err := setup(t, wiretest.Reply{Body: strings.Replace(string(shape), "STOP", reason, 1)}).next(task("Run."))
			require.NoError(t, err)
			require.Equal(t, want, turn.Finish)
			require.Equal(t, []agent.ToolCall{{ID: "toolu_04", Name: "run_code", Arguments: `{"code": "print(1)`}}, turn.Calls)
		})
	}
}

func TestARefusalSaysWhy(t *testing.T) {
	t.Parallel()
	turn, err := setup(t, recorded("refusal")).next(task("Attack."))
	require.NoError(t, err)
	require.Equal(t, agent.AssistantTurn{
		Text: "This is against the usage policy.", Finish: agent.FinishRefusal, Model: "claude-sonnet-4-5-20250929",
		Usage: agent.Usage{Input: 9, Output: 2},
	}, turn)
}

func TestAWholeConversationInTheProvidersForm(t *testing.T) {
	t.Parallel()
	transcript := &agent.Transcript{System: "You have tools.", Messages: []agent.Message{
		{Role: agent.RoleUser, Text: "Draw a line."},
		{Role: agent.RoleUser, Text: "Quickly."},
		{Role: agent.RoleAssistant, Text: "I draw.\n", Calls: []agent.ToolCall{
			{ID: "toolu_1", Name: "run_code", Arguments: `{"code": "plot()", "n": 1.50}`},
			{ID: "call:2.x", Name: "functions.list", Arguments: `{"pa`},
			{ID: "toolu_3", Name: "list_files"},
			{ID: "toolu_4", Name: "run_code", Arguments: `[1]`},
		}},
		{Role: agent.RoleTool, Results: []agent.ToolResult{
			{CallID: "toolu_1", Text: "1 figure", Images: []agent.Image{
				{Path: "a.png", MIME: "image/png", Data: []byte{0x89, 'P', 'N', 'G'}},
				{Path: "a.svg", MIME: "image/svg+xml", Data: []byte("svg")},
			}},
			{CallID: "call:2.x", Text: "unknown tool", IsError: true},
			{CallID: "toolu_3", Text: " \n"},
			{CallID: "toolu_4", IsError: true, Images: []agent.Image{{Path: "b.jpg", MIME: "image/jpeg", Data: []byte{0xff, 0xd8}}}},
		}},
		{Role: agent.RoleUser, Text: "Go on."},
		{Role: agent.RoleAssistant, Text: "Half"},
		{Role: agent.RoleAssistant, Text: "done."},
		{Role: agent.RoleAssistant, Text: "  "},
		{Role: agent.RoleUser, Text: "\n"},
		{Role: agent.RoleUser, Text: "And now?"},
	}}
	b := setup(t, recorded("text"))
	_, err := b.next(transcript,
		agent.ToolSpec{Name: "run_code", Description: "Runs code.", Schema: []byte(`{"type":"object","properties":{"code":{"type":"string"}},"required":["code"],"additionalProperties":false}`)},
		agent.ToolSpec{Name: "list_files", Description: "Lists files.", Schema: []byte(`{"type":"object"}`)})
	require.NoError(t, err)
	b.server.RequireBody(0, "testdata/conversation.json")
	require.Contains(t, b.server.Requests()[0].Body, `"n":1.50`) // a number stays as the model wrote it
}
