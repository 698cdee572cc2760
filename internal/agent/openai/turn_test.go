package openai_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/sandloop/sandloop/internal/agent"
	"github.com/sandloop/sandloop/internal/agent/openai"
)

func TestTextComesInPiecesAndAsAWhole(t *testing.T) {
	t.Parallel()
	b := setup(t, recorded("text"))
	turn, err := b.next(task("Six times seven?"))
	require.NoError(t, err)
	require.Equal(t, agent.AssistantTurn{
		Text: "Six times seven – 42.", Finish: agent.FinishDone, Model: "gpt-5-mini-2025-08-07",
		// 1100 of the prompt, of which 1024 were read from the cache and 50 written to it.
		Usage: agent.Usage{Input: 26, Output: 15, CacheRead: 1024, CacheWrite: 50},
	}, turn)
	require.Equal(t, []string{"Six times ", "seven – 42."}, b.pieces)
}

func TestSeveralCallsInATurn(t *testing.T) {
	t.Parallel()
	turn, err := setup(t, recorded("parallel")).next(task("Run."))
	require.NoError(t, err)
	require.Equal(t, agent.AssistantTurn{
		Finish: agent.FinishDone, Model: "gpt-5-mini-2025-08-07", Usage: agent.Usage{Input: 500, Output: 77},
		Calls: []agent.ToolCall{
			{ID: "call_a", Name: "run_code", Arguments: `{"language": "python", "code": "print(6*7)"}`},
			{ID: "call_b", Name: "list_files", Arguments: `{}`},
		},
	}, turn)
}

func TestARefusalIsSaid(t *testing.T) {
	t.Parallel()
	b := setup(t, recorded("refusal"))
	turn, err := b.next(task("Attack."))
	require.NoError(t, err)
	require.Equal(t, agent.AssistantTurn{
		Text: "I cannot help.", Finish: agent.FinishRefusal, Model: "gpt-5-mini-2025-08-07", Usage: agent.Usage{Input: 9, Output: 4},
	}, turn)
	require.Equal(t, "I cannot help.", strings.Join(b.pieces, ""))
}

func TestWhyAModelStops(t *testing.T) {
	t.Parallel()
	for reason, want := range map[string]agent.Finish{
		"stop": agent.FinishDone, "tool_calls": agent.FinishDone, "unheard_of": agent.FinishDone,
		"length": agent.FinishLength, "insufficient_system_resource": agent.FinishLength, "content_filter": agent.FinishRefusal,
	} {
		t.Run(reason, func(t *testing.T) {
			t.Parallel()
			turn, err := setup(t, altered(t, "stop.sse", "STOP", reason)).next(task("Run."))
			require.NoError(t, err)
			require.Equal(t, want, turn.Finish)
			require.Equal(t, []agent.ToolCall{{ID: "call_c", Name: "run_code", Arguments: `{"code": "print(1)`}}, turn.Calls)
		})
	}
}

func TestServersThatAreAlmostCompatible(t *testing.T) {
	t.Parallel()
	for name, want := range map[string]agent.AssistantTurn{
		"ollama": {
			Finish: agent.FinishDone, Model: "qwen2.5-coder:7b", Usage: agent.Usage{Input: 210, Output: 44},
			Calls: []agent.ToolCall{
				{ID: "call_hk81qg8b", Name: "run_code", Arguments: `{"code":"1"}`},
				{ID: "call_rk2xye1l", Name: "run_code", Arguments: `{"code":"2"}`},
			},
			Opaque: []byte(`{"provider":"openai","model":"gpt-5-mini","reasoning":"Two calls."}`),
		},
		"vllm": {
			Finish: agent.FinishDone, Model: "Qwen/Qwen3-8B", Usage: agent.Usage{Input: 300, Output: 57},
			Calls: []agent.ToolCall{
				{ID: "chatcmpl-tool-c9ZC", Name: "run_code", Arguments: `{"code": "1"}`},
				{ID: "chatcmpl-tool-HfzZ", Name: "list_files", Arguments: `{}`},
			},
			Opaque: []byte(`{"provider":"openai","model":"gpt-5-mini","reasoning_content":"Hm, two."}`),
		},
		"oddities": {
			Finish: agent.FinishDone, Model: "local", Usage: agent.Usage{Input: 20, Output: 10},
			Calls: []agent.ToolCall{
				{ID: "call_3_0", Name: "run_code", Arguments: `{"code":"1"}`},
				{ID: "call_3_1", Name: "run_code", Arguments: `{"code":"2"}`},
				{ID: "call_3_2", Name: "list_files", Arguments: `{}`},
				{ID: "dup", Name: "wait_job", Arguments: `{}`},
				{ID: "call_3_4", Name: "wait_job", Arguments: `{}`},
			},
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			transcript := task("Run.")
			transcript.Messages = append(transcript.Messages,
				agent.Message{Role: agent.RoleAssistant, Calls: []agent.ToolCall{{ID: "call_old", Name: "run_code", Arguments: "{}"}}},
				agent.Message{Role: agent.RoleTool, Results: []agent.ToolResult{{CallID: "call_old", Text: "1"}}})
			turn, err := setup(t, recorded(name)).next(transcript)
			require.NoError(t, err)
			require.Equal(t, want, turn)
		})
	}
}

func TestAnswersWithFieldsOfOtherTypes(t *testing.T) {
	t.Parallel()
	turn, err := setup(t, altered(t, "text.sse", `"logprobs":null`, `"logprobs":7`, `"usage":null`, `"usage":"none"`, `"created":1767225600`, `"created":"now"`)).next(task("Hello."))
	require.NoError(t, err)
	require.Equal(t, "Six times seven – 42.", turn.Text)
}

func TestAWholeConversationInTheProvidersForm(t *testing.T) {
	t.Parallel()
	transcript := &agent.Transcript{System: "You have tools.", Messages: []agent.Message{
		{Role: agent.RoleUser, Text: "Draw a line."},
		{Role: agent.RoleUser, Text: "Quickly."},
		{Role: agent.RoleAssistant, Text: "I draw.", Calls: []agent.ToolCall{
			{ID: "call_1", Name: "run_code", Arguments: `{"code": "plot()"}`},
			{ID: "functions.list:1", Name: "functions.list", Arguments: `{"pa`},
			{ID: "call_3", Name: "list_files"},
			{ID: "call_4", Name: "run_code", Arguments: `null`},
		}},
		{Role: agent.RoleTool, Results: []agent.ToolResult{
			{CallID: "call_1", Text: "1 figure", Images: []agent.Image{
				{Path: "a.png", MIME: "image/png", Data: []byte{0x89, 'P', 'N', 'G'}},
				{Path: "a.svg", MIME: "image/svg+xml", Data: []byte("svg")},
			}},
			{CallID: "functions.list:1", Text: "unknown tool", IsError: true},
			{CallID: "call_3", Text: " \n"},
			{CallID: "call_4", Text: "error: no object", IsError: true},
		}},
		{Role: agent.RoleUser, Text: "Go on."},
		{Role: agent.RoleAssistant, Text: "Done."},
		{Role: agent.RoleAssistant, Text: " "},
		{Role: agent.RoleUser, Text: "\n"},
		{Role: agent.RoleUser, Text: "And now?"},
	}}
	b := setupWith(t, openai.Options{Model: "gpt-5-mini", MaxTokens: 2048}, recorded("text"))
	_, err := b.next(transcript,
		agent.ToolSpec{Name: "run_code", Description: "Runs code.", Schema: []byte(`{"type":"object","properties":{"code":{"type":"string"}},"required":["code"],"additionalProperties":false}`)},
		agent.ToolSpec{Name: "list_files", Description: "Lists files.", Schema: []byte(`{"type":"object"}`)})
	require.NoError(t, err)
	b.server.RequireBody(0, "testdata/conversation.json")
	require.Contains(t, b.server.Requests()[0].Body, `{"type":"object","properties":{"code":{"type":"string"}},"required"`) // in its order
}

func TestFiguresFollowTheResultsForAModelThatSees(t *testing.T) {
	t.Parallel()
	transcript := &agent.Transcript{Messages: []agent.Message{
		{Role: agent.RoleUser, Text: "Draw."},
		{Role: agent.RoleAssistant, Calls: []agent.ToolCall{{ID: "call_1", Name: "run_code", Arguments: "{}"}}},
		{Role: agent.RoleTool, Results: []agent.ToolResult{
			{CallID: "call_1", Images: []agent.Image{
				{Path: "a.png", MIME: "image/png", Data: []byte{0x89, 'P', 'N', 'G'}},
				{Path: "a.svg", MIME: "image/svg+xml", Data: []byte("svg")},
			}},
			{CallID: "call_2"},
		}},
		{Role: agent.RoleUser, Text: "Well?"},
	}}
	b := setupWith(t, openai.Options{Model: "gpt-5-mini", Images: true}, recorded("text"))
	_, err := b.next(transcript)
	require.NoError(t, err)
	b.server.RequireBody(0, "testdata/images.json")
}

func TestThoughtsSinceTheLastTaskGoBackToTheModelThatHadThem(t *testing.T) {
	t.Parallel()
	transcript := func(opaque string) *agent.Transcript {
		return &agent.Transcript{Messages: []agent.Message{
			{Role: agent.RoleUser, Text: "Before."},
			{Role: agent.RoleAssistant, Text: "Yes.", Opaque: []byte(`{"provider":"openai","model":"local","reasoning":"Old."}`)},
			{Role: agent.RoleUser, Text: "Run."},
			{Role: agent.RoleAssistant, Calls: []agent.ToolCall{{ID: "call_1", Name: "run_code"}}, Opaque: []byte(opaque)},
			{Role: agent.RoleTool, Results: []agent.ToolResult{{CallID: "call_1", Text: "1"}}},
		}}
	}
	for name, test := range map[string]struct{ opaque, field string }{
		"as reasoning_content":   {`{"provider":"openai","model":"local","reasoning_content":"Hm."}`, `"reasoning_content": "Hm.",`},
		"as reasoning":           {`{"provider":"openai","model":"local","reasoning":"Hm."}`, `"reasoning": "Hm.",`},
		"not another model's":    {`{"provider":"openai","model":"other","reasoning":"Hm."}`, ""},
		"not another provider's": {`{"provider":"anthropic","model":"local","parts":[]}`, ""},
		"not what is no JSON":    {`{`, ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := setupWith(t, openai.Options{Model: "local"}, recorded("text"))
			_, err := b.next(transcript(test.opaque))
			require.NoError(t, err)
			want := altered(t, "thoughts.json", `"FIELD": "THOUGHT",`, test.field).Body
			require.JSONEq(t, want, b.server.Requests()[0].Body)
		})
	}
}
