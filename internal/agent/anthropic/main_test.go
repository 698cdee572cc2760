package anthropic_test

import (
	"context"
	"io"
	"log"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"

	"github.com/sandloop/sandloop/internal/agent"
	"github.com/sandloop/sandloop/internal/agent/anthropic"
	"github.com/sandloop/sandloop/internal/agent/wiretest"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

const testKey = "sk-ant-api03-a_very-secret-one"

// bundle is a model that asks a server of the test's own.
type bundle struct {
	t      *testing.T
	server *wiretest.Server
	model  *anthropic.Model
	pieces []string
}

func setup(t *testing.T, replies ...wiretest.Reply) *bundle {
	t.Helper()
	return setupWith(t, anthropic.Options{Model: "claude-sonnet-4-5"}, replies...)
}

func setupWith(t *testing.T, options anthropic.Options, replies ...wiretest.Reply) *bundle {
	t.Helper()
	b := &bundle{t: t, server: wiretest.Serve(t, replies...)}
	options.Key, options.BaseURL, options.HTTPClient = testKey, b.server.URL, b.server.Client()
	var err error
	b.model, err = anthropic.New(options)
	require.NoError(t, err)
	return b
}

func (b *bundle) next(transcript *agent.Transcript, tools ...agent.ToolSpec) (agent.AssistantTurn, error) {
	b.t.Helper()
	ctx, cancel := context.WithTimeout(b.t.Context(), time.Minute)
	defer cancel()
	return b.model.NextTurn(ctx, transcript, tools, func(piece string) { b.pieces = append(b.pieces, piece) })
}

// fail asks and returns the failure that comes.
func (b *bundle) fail() *agent.ProviderError {
	b.t.Helper()
	_, err := b.next(task("Hello."))
	var failure *agent.ProviderError
	require.ErrorAs(b.t, err, &failure)
	require.NotContains(b.t, err.Error(), testKey)
	return failure
}

func task(text string) *agent.Transcript {
	return &agent.Transcript{Messages: []agent.Message{{Role: agent.RoleUser, Text: text}}}
}

func recorded(name string) wiretest.Reply { return wiretest.Reply{File: "testdata/" + name + ".sse"} }

func refused(status int, kind, message string) wiretest.Reply {
	return wiretest.Reply{Status: status, Body: `{"type":"error","error":{"type":"` + kind + `","message":"` + message + `"},"request_id":"req_011"}`}
}

func TestTheKeyGoesIntoOneHeaderAndNothingElseOfTheEnvironmentIsUsed(t *testing.T) {
	// Not parallel: it sets the environment.
	for _, name := range []string{"API_KEY", "AUTH_TOKEN", "BASE_URL", "PROFILE", "CUSTOM_HEADERS"} {
		t.Setenv("ANTHROPIC_"+name, "http://127.0.0.1:9/: of-the-environment")
	}
	b := setup(t, recorded("text"))
	_, err := b.next(task("Hello."))
	require.NoError(t, err)
	request := b.server.Requests()[0]
	require.Equal(t, "/v1/messages", request.Path)
	require.Equal(t, testKey, request.Header.Get("X-Api-Key"))
	require.Equal(t, "2023-06-01", request.Header.Get("Anthropic-Version"))
	require.Empty(t, request.Header.Values("Authorization"))
	request.Header.Del("X-Api-Key")
	for name, values := range request.Header {
		require.NotContains(t, strings.Join(values, " "), testKey, name)
		require.NotContains(t, strings.Join(values, " "), "of-the-environment", name)
	}
	require.NotContains(t, request.Body, testKey)
}

func TestOptionsThatCannotWorkAreRefused(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		options anthropic.Options
		want    string
	}{
		"no key":           {anthropic.Options{Model: "m"}, "an API key is required"},
		"a blank key":      {anthropic.Options{Key: " \n", Model: "m"}, "an API key is required"},
		"no model":         {anthropic.Options{Key: "k"}, "the name of a model is required"},
		"a key of two":     {anthropic.Options{Key: "secret other", Model: "m"}, "the API key has characters that no key has"},
		"negative tokens":  {anthropic.Options{Key: "k", Model: "m", MaxTokens: -1}, "cannot be less than 0"},
		"no URL":           {anthropic.Options{Key: "k", Model: "m", BaseURL: "localhost:80"}, "base URL"},
		"a URL with a key": {anthropic.Options{Key: "k", Model: "m", BaseURL: "https://me:pass@host"}, "has a user name or password"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			_, err := anthropic.New(test.options)
			require.ErrorContains(t, err, test.want)
			require.NotContains(t, err.Error(), "secret")
			require.NotContains(t, err.Error(), "pass@")
		})
	}
}

func TestAKeyMayEndWithALine(t *testing.T) {
	t.Parallel()
	server := wiretest.Serve(t, recorded("text"))
	model, err := anthropic.New(anthropic.Options{Key: testKey + "\n", Model: "m", BaseURL: server.URL + "/proxy/", HTTPClient: server.Client()})
	require.NoError(t, err)
	_, err = model.NextTurn(t.Context(), task("Hello."), nil, nil)
	require.NoError(t, err)
	require.Equal(t, testKey, server.Requests()[0].Header.Get("X-Api-Key"))
	require.Equal(t, "/proxy/v1/messages", server.Requests()[0].Path)
}

// discard takes what a server logs about a client that does not trust it.
func discard() *log.Logger { return log.New(io.Discard, "", 0) }
