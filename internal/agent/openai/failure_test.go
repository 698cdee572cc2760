package openai_test

import (
	"context"
	"errors"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/sandloop/sandloop/internal/agent"
	"github.com/sandloop/sandloop/internal/agent/openai"
	"github.com/sandloop/sandloop/internal/agent/wiretest"
)

const baseHint = "; is the base URL right? It mostly ends with /v1"

func TestAnswersThatAreFailures(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		reply wiretest.Reply
		want  agent.ProviderError
	}{
		"400": {
			wiretest.Reply{Status: 400, Body: `{"error":{"message":"Too long.","type":"invalid_request_error","param":"messages","code":"context_length_exceeded"}}`},
			agent.ProviderError{Kind: agent.BadRequest, Status: 400, Message: "Too long."},
		},
		"400 of vLLM": {
			wiretest.Reply{Status: 400, Body: `{"object":"error","message":"No tools here.","type":"BadRequestError","param":null,"code":400}`},
			agent.ProviderError{Kind: agent.BadRequest, Status: 400, Message: "No tools here."},
		},
		"401": {
			wiretest.Reply{Status: 401, Body: `{"error":{"message":"Incorrect API key provided.","type":"invalid_request_error","param":null,"code":"invalid_api_key"}}`},
			agent.ProviderError{Kind: agent.BadKey, Status: 401, Message: "Incorrect API key provided."},
		},
		"404 of Ollama": {
			wiretest.Reply{Status: 404, Header: map[string]string{"Content-Type": "text/plain"}, Body: "404 page not found"},
			agent.ProviderError{Kind: agent.BadRequest, Status: 404, Message: "404 page not found" + baseHint},
		},
		"422": {
			wiretest.Reply{Status: 422, Body: `{"detail":[{"loc":["body"],"msg":"field required"}]}`},
			agent.ProviderError{Kind: agent.BadRequest, Status: 422, Message: `[{"loc":["body"],"msg":"field required"}]`},
		},
		"429": {
			wiretest.Reply{Status: 429, Header: map[string]string{"Retry-After": "20", "Retry-After-Ms": "19500"}, Body: `{"error":{"message":"Slow down.","type":"requests","code":"rate_limit_exceeded"}}`},
			agent.ProviderError{Kind: agent.RateLimited, Status: 429, RetryAfter: 19500 * time.Millisecond, Message: "Slow down."},
		},
		"a quota, which waiting does not help": {
			wiretest.Reply{Status: 429, Body: `{"error":{"message":"Pay.","type":"insufficient_quota","code":"insufficient_quota"}}`},
			agent.ProviderError{Kind: agent.BadRequest, Status: 429, Message: "Pay."},
		},
		"500 of Ollama": {
			wiretest.Reply{Status: 500, Body: `{"error":"model runner has stopped"}`},
			agent.ProviderError{Kind: agent.Unreachable, Status: 500, Message: "model runner has stopped"},
		},
		"529": {
			wiretest.Reply{Status: 529},
			agent.ProviderError{Kind: agent.Overloaded, Status: 529},
		},
		"503 as a web page": {
			wiretest.Reply{Status: 503, Body: "\n<!DOCTYPE html><html>" + strings.Repeat("<p>x</p>", 1000)},
			agent.ProviderError{Kind: agent.Overloaded, Status: 503, Message: "a web page"},
		},
		"a web page where a stream should be": {
			wiretest.Reply{Header: map[string]string{"Content-Type": "text/html; charset=utf-8"}, Body: "<html><title>Chat</title>"},
			agent.ProviderError{Kind: agent.BadRequest, Status: 200, Message: `the answer is no stream: a web page with the title "Chat"` + baseHint},
		},
		"a moved server": {
			wiretest.Reply{Status: 308, Header: map[string]string{"Location": "https://elsewhere.example/v1/chat/completions"}},
			agent.ProviderError{Kind: agent.BadRequest, Status: 308, Message: "it points elsewhere; the base URL to use may be that of https://elsewhere.example/v1/chat/completions"},
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := setup(t, test.reply)
			require.Equal(t, &test.want, b.fail())
			require.Len(t, b.server.Requests(), 1, "the loop alone tries again")
		})
	}
}

func TestFailuresWithinAStream(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		word, code string
		want       agent.ProviderErrorKind
		status     int
	}{
		"of the server":         {"server_error", "null", agent.Unreachable, 0},
		"with a code as status": {"", "429", agent.RateLimited, 429},
		"with a code as text":   {"", `"rate_limit_exceeded"`, agent.RateLimited, 0},
		"of another kind":       {"unheard_of", "7", agent.CutStream, 0},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			reply := altered(t, "error.sse", "KIND", test.word, "CODE", test.code)
			reply.Echo = true
			b := setup(t, reply)
			failure := b.fail()
			require.Equal(t, test.want, failure.Kind)
			require.Equal(t, test.status, failure.Status)
			require.Contains(t, failure.Message, "Authorization: Bearer [key]")
			require.Equal(t, []string{"I will "}, b.pieces)
		})
	}
}

func TestAProviderThatEchoesTheKeyDoesNotGetItIntoAnError(t *testing.T) {
	t.Parallel()
	for name, reply := range map[string]wiretest.Reply{
		"JSON":       {Status: 401, Body: `{"error":{"message":"you sent ECHO"}}`},
		"a string":   {Status: 500, Body: `{"error":"ECHO"}`},
		"a web page": {Status: 500, Body: "<title>ECHO</title>"},
		"plain text": {Status: 400, Body: "you sent ECHO"},
		"no stream":  {Header: map[string]string{"Content-Type": "application/json"}, Body: `{"detail":"ECHO"}`},
		"no JSON":    {Body: "data: ECHO\n\n"},
		"a long one": {Status: 400, Body: strings.Repeat("x", 300) + " ECHO"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			reply.Echo = true
			failure := setup(t, reply).fail()
			require.NotContains(t, failure.Message, testKey[:12])
			for err := error(failure); err != nil; err = errors.Unwrap(err) {
				require.NotContains(t, err.Error(), testKey)
			}
		})
	}
}

func TestAStreamThatIsCut(t *testing.T) {
	t.Parallel()
	for name, reply := range map[string]wiretest.Reply{
		"within a piece":             {File: "testdata/text.sse", Until: "seven"},
		"before the reason to stop":  {File: "testdata/text.sse", Until: `{"index":0,"delta":{},"logprobs":null,"finish_reason":"stop"`},
		"with the reason of a crash": altered(t, "stop.sse", "STOP", "error"),
		"in an orderly way":          {Body: "data: {\"choices\":[{\"index\":0,\"delta\":{\"content\":\"x\"}}]}\n\ndata: [DONE]\n\n"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			failure := setup(t, reply).fail()
			require.Equal(t, agent.CutStream, failure.Kind)
			require.True(t, failure.Temporary())
		})
	}
	t.Run("by silence", func(t *testing.T) {
		t.Parallel()
		failure := setupWith(t, openai.Options{Model: "m", Silence: 300 * time.Millisecond}, wiretest.Reply{Body: ": waiting\n\n", Hold: true}).fail()
		require.Equal(t, agent.CutStream, failure.Kind)
		require.Equal(t, "the provider sent nothing for too long", failure.Message)
	})
	t.Run("after all that matters", func(t *testing.T) {
		t.Parallel()
		turn, err := setup(t, wiretest.Reply{File: "testdata/text.sse", Until: `"usage":{`}).next(task("Hello."))
		require.NoError(t, err)
		require.Equal(t, "Six times seven – 42.", turn.Text)
		require.Zero(t, turn.Usage)
	})
}

func TestAProviderThatIsNotThere(t *testing.T) {
	t.Parallel()
	gone := httptest.NewServer(nil)
	gone.Close()
	model, err := openai.New(openai.Options{Key: testKey, Model: "m", BaseURL: gone.URL})
	require.NoError(t, err)
	_, err = model.NextTurn(t.Context(), task("Hello."), nil, nil)
	var failure *agent.ProviderError
	require.ErrorAs(t, err, &failure)
	require.Equal(t, agent.Unreachable, failure.Kind)
	require.Contains(t, failure.Message, "refused")
}

func TestTheEndOfTheContextIsNoFailureOfTheProvider(t *testing.T) {
	t.Parallel()
	stopped := errors.New("the user has gone")
	b := setup(t, wiretest.Reply{File: "testdata/error.sse", Until: `data: {"error"`, Hold: true})
	ctx, cancel := context.WithCancelCause(t.Context())
	_, err := b.model.NextTurn(ctx, task("Hello."), nil, func(string) { cancel(stopped) })
	require.ErrorIs(t, err, stopped)
	var failure *agent.ProviderError
	require.NotErrorAs(t, err, &failure)

	_, err = b.model.NextTurn(ctx, task("Hello."), nil, nil)
	require.ErrorIs(t, err, stopped)
	require.Len(t, b.server.Requests(), 1)
}

func TestOpenAIItselfIsToldTheTokensUnderItsOwnName(t *testing.T) {
	t.Parallel()
	// The address is OpenAI's, and the connection goes to the test.
	b := &bundle{t: t, server: wiretest.Serve(t, recorded("text"))}
	var err error
	b.model, err = openai.New(openai.Options{Key: testKey, Model: "gpt-5-mini", MaxTokens: 100, HTTPClient: b.redirected()})
	require.NoError(t, err)
	_, err = b.next(task("Hello."))
	require.NoError(t, err)
	require.JSONEq(t, `{"model":"gpt-5-mini","stream":true,"stream_options":{"include_usage":true},"max_completion_tokens":100,
		"messages":[{"role":"user","content":"Hello."}]}`, b.server.Requests()[0].Body)
}
