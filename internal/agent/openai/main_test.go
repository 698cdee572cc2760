package openai_test

import (
	"context"
	"net/http"
	"net/url"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"

	"github.com/sandloop/sandloop/internal/agent"
	"github.com/sandloop/sandloop/internal/agent/openai"
	"github.com/sandloop/sandloop/internal/agent/wiretest"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

const testKey = "sk-proj-a_very-secret-one"

// bundle is a model that asks a server of the test's own.
type bundle struct {
	t      *testing.T
	server *wiretest.Server
	model  *openai.Model
	pieces []string
}

func setup(t *testing.T, replies ...wiretest.Reply) *bundle {
	t.Helper()
	return setupWith(t, openai.Options{Key: testKey, Model: "gpt-5-mini"}, replies...)
}

func setupWith(t *testing.T, options openai.Options, replies ...wiretest.Reply) *bundle {
	t.Helper()
	b := &bundle{t: t, server: wiretest.Serve(t, replies...)}
	options.BaseURL, options.HTTPClient = b.server.URL+"/v1", b.server.Client()
	var err error
	b.model, err = openai.New(options)
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

// altered is a recorded shape with other words: pairs of old and new.
func altered(t *testing.T, name string, words ...string) wiretest.Reply {
	t.Helper()
	shape, err := os.ReadFile("testdata/" + name)
	require.NoError(t, err)
	return wiretest.Reply{Body: strings.NewReplacer(words...).Replace(string(shape))}
}

func TestTheKeyGoesIntoOneHeaderAndNothingElseOfTheEnvironmentIsUsed(t *testing.T) {
	// Not parallel: it sets the environment.
	for _, name := range []string{"API_KEY", "ADMIN_KEY", "ORG_ID", "PROJECT_ID", "BASE_URL", "CUSTOM_HEADERS"} {
		t.Setenv("OPENAI_"+name, "http://127.0.0.1:9/: of-the-environment")
	}
	for _, key := range []string{testKey, ""} {
		b := setupWith(t, openai.Options{Key: key, Model: "m"}, recorded("text"))
		_, err := b.next(task("Hello."))
		require.NoError(t, err)
		request := b.server.Requests()[0]
		require.Equal(t, "/v1/chat/completions", request.Path)
		if key == "" {
			require.Empty(t, request.Header.Values("Authorization"))
		} else {
			require.Equal(t, []string{"Bearer " + testKey}, request.Header.Values("Authorization"))
		}
		request.Header.Del("Authorization")
		for name, values := range request.Header {
			require.NotContains(t, strings.Join(values, " "), testKey, name)
			require.NotContains(t, strings.Join(values, " "), "of-the-environment", name)
		}
		require.NotContains(t, request.Body, testKey)
	}
}

func TestOptionsThatCannotWorkAreRefused(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		options openai.Options
		want    string
	}{
		"no key":          {openai.Options{Model: "m"}, "an API key is required"},
		"no model":        {openai.Options{Key: "k"}, "the name of a model is required"},
		"a key of two":    {openai.Options{Key: "secret other", Model: "m"}, "the API key has characters that no key has"},
		"negative tokens": {openai.Options{Key: "k", Model: "m", MaxTokens: -1}, "cannot be less than 0"},
		"a query":         {openai.Options{Key: "k", Model: "m", BaseURL: "http://host/v1?key=secret"}, "has a query"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			_, err := openai.New(test.options)
			require.ErrorContains(t, err, test.want)
			require.NotContains(t, err.Error(), "secret")
		})
	}
	_, err := openai.New(openai.Options{Model: "m", BaseURL: "http://127.0.0.1:11434/v1"})
	require.NoError(t, err)
}

// redirected is a client that takes every request to the test's server, whatever its address.
func (b *bundle) redirected() *http.Client {
	next := b.server.Client().Transport
	return &http.Client{Transport: roundTrip(func(request *http.Request) (*http.Response, error) {
		require.Equal(b.t, "https://api.openai.com/v1/chat/completions", request.URL.String())
		there, err := url.Parse(b.server.URL)
		require.NoError(b.t, err)
		request = request.Clone(request.Context())
		request.URL.Scheme, request.URL.Host = there.Scheme, there.Host
		return next.RoundTrip(request)
	})}
}

type roundTrip func(*http.Request) (*http.Response, error)

func (r roundTrip) RoundTrip(request *http.Request) (*http.Response, error) { return r(request) }
