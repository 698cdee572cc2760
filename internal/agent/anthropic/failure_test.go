package anthropic_test

import (
	"context"
	"errors"
	"net/http/httptest"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/sandloop/sandloop/internal/agent"
	"github.com/sandloop/sandloop/internal/agent/anthropic"
	"github.com/sandloop/sandloop/internal/agent/wiretest"
)

func TestAnswersThatAreFailures(t *testing.T) {
	t.Parallel()
	rateLimit := refused(429, "rate_limit_error", "Too many tokens a minute.")
	rateLimit.Header = map[string]string{"Retry-After": "7"}
	overloaded := refused(529, "overloaded_error", "Overloaded")
	overloaded.Header = map[string]string{"Retry-After-Ms": "1500", "X-Should-Retry": "true"}
	for name, test := range map[string]struct {
		reply wiretest.Reply
		want  agent.ProviderError
	}{
		"400":      {refused(400, "invalid_request_error", "max_tokens: too large"), agent.ProviderError{Kind: agent.BadRequest, Status: 400, Message: "max_tokens: too large"}},
		"401":      {refused(401, "authentication_error", "invalid x-api-key"), agent.ProviderError{Kind: agent.BadKey, Status: 401, Message: "invalid x-api-key"}},
		"403":      {refused(403, "permission_error", "not yours"), agent.ProviderError{Kind: agent.BadKey, Status: 403, Message: "not yours"}},
		"404":      {refused(404, "not_found_error", "model: claude-9"), agent.ProviderError{Kind: agent.BadRequest, Status: 404, Message: "model: claude-9; is the base URL right, or the model's name?"}},
		"413":      {refused(413, "request_too_large", "too large"), agent.ProviderError{Kind: agent.BadRequest, Status: 413, Message: "too large"}},
		"429":      {rateLimit, agent.ProviderError{Kind: agent.RateLimited, Status: 429, RetryAfter: 7 * time.Second, Message: "Too many tokens a minute."}},
		"500":      {refused(500, "api_error", "Internal server error"), agent.ProviderError{Kind: agent.Unreachable, Status: 500, Message: "Internal server error"}},
		"529":      {overloaded, agent.ProviderError{Kind: agent.Overloaded, Status: 529, RetryAfter: 1500 * time.Millisecond, Message: "Overloaded"}},
		"redirect": {wiretest.Reply{Status: 307, Header: map[string]string{"Location": "https://elsewhere.example/v1"}}, agent.ProviderError{Kind: agent.BadRequest, Status: 307, Message: "it points elsewhere; the base URL to use may be that of https://elsewhere.example/v1"}},
		"a gateway's page": {
			wiretest.Reply{Status: 502, Header: map[string]string{"Content-Type": "text/html"}, Body: "<html><head><title>502 Bad\nGateway</title></head>" + strings.Repeat("<p>x</p>", 1000) + "</html>"},
			agent.ProviderError{Kind: agent.Unreachable, Status: 502, Message: `a web page with the title "502 Bad Gateway"`},
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
	shape, err := os.ReadFile("testdata/error.sse")
	require.NoError(t, err)
	for word, want := range map[string]agent.ProviderErrorKind{
		"overloaded_error": agent.Overloaded, "rate_limit_error": agent.RateLimited, "api_error": agent.Unreachable,
		"invalid_request_error": agent.BadRequest, "authentication_error": agent.BadKey, "unheard_of": agent.CutStream,
	} {
		t.Run(word, func(t *testing.T) {
			t.Parallel()
			b := setup(t, wiretest.Reply{Body: strings.Replace(string(shape), "KIND", word, 1), Echo: true})
			failure := b.fail()
			require.Equal(t, want, failure.Kind)
			require.Contains(t, failure.Message, "X-Api-Key: [key]")
			require.Equal(t, []string{"I will "}, b.pieces)
		})
	}
}

func TestAProviderThatEchoesTheKeyDoesNotGetItIntoAnError(t *testing.T) {
	t.Parallel()
	for name, reply := range map[string]wiretest.Reply{
		"JSON":       {Status: 401, Body: `{"error":{"type":"authentication_error","message":"you sent ECHO"}}`},
		"a web page": {Status: 500, Body: "<title>ECHO</title>"},
		"plain text": {Status: 400, Body: "you sent ECHO"},
		"no stream":  {Header: map[string]string{"Content-Type": "application/json"}, Body: `{"detail":"ECHO"}`},
		"no events":  {Body: "event: message_start\ndata: ECHO\n\n"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			reply.Echo = true
			failure := setup(t, reply).fail()
			for err := error(failure); err != nil; err = errors.Unwrap(err) {
				require.NotContains(t, err.Error(), testKey)
			}
		})
	}
}

func TestAStreamThatIsCut(t *testing.T) {
	t.Parallel()
	for name, reply := range map[string]wiretest.Reply{
		"within an event":        {Until: `mes "}}`},
		"before the stop reason": {Until: "event: message_delta"},
		"before its last event":  {Until: "event: message_stop"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			reply.File = "testdata/text.sse"
			failure := setup(t, reply).fail()
			require.Equal(t, agent.CutStream, failure.Kind)
			require.Zero(t, failure.Status)
			require.True(t, failure.Temporary())
		})
	}
	t.Run("in an orderly way", func(t *testing.T) {
		t.Parallel()
		shape, err := os.ReadFile("testdata/text.sse")
		require.NoError(t, err)
		body, _, _ := strings.Cut(string(shape), "event: message_stop")
		require.Equal(t, agent.CutStream, setup(t, wiretest.Reply{Body: body}).fail().Kind)
	})
	t.Run("by silence", func(t *testing.T) {
		t.Parallel()
		reply := wiretest.Reply{Body: "event: ping\ndata: {}\n\n", Hold: true}
		failure := setupWith(t, anthropic.Options{Model: "m", Silence: 300 * time.Millisecond}, reply).fail()
		require.Equal(t, agent.CutStream, failure.Kind)
		require.Equal(t, "the provider sent nothing for too long", failure.Message)
	})
}

func TestAProviderThatIsNotThere(t *testing.T) {
	t.Parallel()
	gone := httptest.NewServer(nil)
	gone.Close()
	model, err := anthropic.New(anthropic.Options{Key: testKey, Model: "m", BaseURL: gone.URL})
	require.NoError(t, err)
	_, err = model.NextTurn(t.Context(), task("Hello."), nil, nil)
	var failure *agent.ProviderError
	require.ErrorAs(t, err, &failure)
	require.Equal(t, agent.Unreachable, failure.Kind)
	require.Contains(t, failure.Message, "refused")

	secure := httptest.NewUnstartedServer(nil)
	secure.Config.ErrorLog = discard()
	secure.StartTLS()
	defer secure.Close()
	model, err = anthropic.New(anthropic.Options{Key: testKey, Model: "m", BaseURL: secure.URL})
	require.NoError(t, err)
	_, err = model.NextTurn(t.Context(), task("Hello."), nil, nil)
	require.ErrorAs(t, err, &failure)
	require.Equal(t, agent.Unreachable, failure.Kind)
	require.Contains(t, failure.Message, "certificate")
}

func TestTheEndOfTheContextIsNoFailureOfTheProvider(t *testing.T) {
	t.Parallel()
	stopped := errors.New("the user has gone")
	b := setup(t, wiretest.Reply{File: "testdata/error.sse", Until: "event: error", Hold: true})
	ctx, cancel := context.WithCancelCause(t.Context())
	_, err := b.model.NextTurn(ctx, task("Hello."), nil, func(string) { cancel(stopped) })
	require.ErrorIs(t, err, stopped)
	var failure *agent.ProviderError
	require.NotErrorAs(t, err, &failure)

	_, err = b.model.NextTurn(ctx, task("Hello."), nil, nil)
	require.ErrorIs(t, err, stopped)
	require.Len(t, b.server.Requests(), 1)
}
