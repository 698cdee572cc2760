package provider

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/sandloop/sandloop/internal/agent"
)

func TestWhatProvidersSayAboutFailures(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		body string
		want Fault
	}{
		"an object":          {`{"type":"error","error":{"type":"api_error","message":"Oh."}}`, Fault{Type: "api_error", Message: "Oh."}},
		"a code":             {`{"error":{"code":"model_not_found","message":"Oh."}}`, Fault{Code: "model_not_found", Message: "Oh."}},
		"a code as number":   {`{"error":{"code":502,"message":"Oh."}}`, Fault{Code: "502", Message: "Oh.", status: 502}},
		"no code":            {`{"error":{"code":null,"message":"Oh."}}`, Fault{Message: "Oh."}},
		"a string":           {`{"error":"Oh."}`, Fault{Message: "Oh."}},
		"nothing around it":  {`{"object":"error","message":"Oh.","type":"NotFoundError","code":404}`, Fault{Type: "NotFoundError", Code: "404", Message: "Oh.", status: 404}},
		"a detail":           {`{"detail":"Not Found"}`, Fault{Message: "Not Found"}},
		"JSON of no shape":   {`{"oh":"no"}`, Fault{Message: `{"oh":"no"}`}},
		"an array":           {`["oh"]`, Fault{Message: `["oh"]`}},
		"text":               {" Oh. \n", Fault{Message: "Oh."}},
		"nothing":            {"", Fault{}},
		"a page":             {"<html><TITLE lang='en'> Bad\nGateway </TITLE>", Fault{Message: "a web page with the title \"Bad\nGateway\""}},
		"a page sans title":  {"<p>Oh.</p>", Fault{Message: "a web page"}},
		"a code of no range": {`{"error":{"code":7,"message":"Oh."}}`, Fault{Code: "7", Message: "Oh."}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			require.Equal(t, test.want, ParseFault([]byte(test.body)))
		})
	}
}

func TestWhatAStatusMeans(t *testing.T) {
	t.Parallel()
	for status, want := range map[int]agent.ProviderErrorKind{
		400: agent.BadRequest, 401: agent.BadKey, 402: agent.BadRequest, 403: agent.BadKey, 404: agent.BadRequest,
		408: agent.Unreachable, 409: agent.Unreachable, 413: agent.BadRequest, 422: agent.BadRequest, 429: agent.RateLimited,
		500: agent.Unreachable, 502: agent.Unreachable, 503: agent.Overloaded, 504: agent.Unreachable, 529: agent.Overloaded,
	} {
		kind, known := Fault{Type: "invalid_request_error"}.kind(status)
		require.Equal(t, want, kind, status)
		require.True(t, known)
	}
	kind, _ := Fault{Type: "overloaded_error"}.kind(500)
	require.Equal(t, agent.Overloaded, kind)
	kind, _ = Fault{Code: "insufficient_quota"}.kind(429)
	require.Equal(t, agent.BadRequest, kind)
}

func TestAMessageIsALineOfBoundedLength(t *testing.T) {
	t.Parallel()
	require.Equal(t, "a b c", short(" a\n\tb  c\r\n"))
	require.Equal(t, strings.Repeat("ü", 400)+"...", short(strings.Repeat("ü", 401)))
	require.Equal(t, "a?b", short("a\xffb"))
}

func TestAKeyIsTakenOutBeforeItCouldBeCutInTwo(t *testing.T) {
	t.Parallel()
	endpoint := &Endpoint{Name: "test", Key: "sk-secret"}
	err := endpoint.Reported(Fault{Message: strings.Repeat("x", 390) + " sk-secret"})
	require.EqualError(t, err, "model provider: answer was cut: "+strings.Repeat("x", 390)+" [key]")
	err = endpoint.Reported(Fault{Message: strings.Repeat("x", 395) + " sk-secret"})
	require.EqualError(t, err, "model provider: answer was cut: "+strings.Repeat("x", 395)+" [key...")
}
