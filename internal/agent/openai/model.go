// Package openai asks models through chat completions, as OpenAI and many servers that are compatible with it, such as
// Ollama and vLLM, offer them.
//
// Its one invariant: a turn is returned only if the provider said why it ended, and every call in it has an id of its
// own. It may import internal/agent, internal/agent/provider and OpenAI's SDK, and reads nothing of the environment but
// what net/http reads of it for a proxy.
package openai

import (
	"context"
	"errors"
	"net/http"
	"net/url"
	"strings"
	"time"

	sdk "github.com/openai/openai-go/v3"
	"github.com/openai/openai-go/v3/option"
	"github.com/openai/openai-go/v3/packages/ssestream"

	"github.com/sandloop/sandloop/internal/agent"
	"github.com/sandloop/sandloop/internal/agent/provider"
)

// Name is what a transcript calls this provider.
const Name = "openai"

// DefaultBaseURL is where OpenAI serves its models.
const DefaultBaseURL = "https://api.openai.com/v1"

// Options say what to ask, and where.
type Options struct {
	// Key is required unless there is a BaseURL: local servers mostly want none.
	Key string
	// Model is required.
	Model string
	// BaseURL is [DefaultBaseURL] if empty. That of Ollama is http://127.0.0.1:11434/v1.
	BaseURL string
	// MaxTokens bounds what a turn can say; 0 leaves it to the provider.
	MaxTokens int64
	// Images has figures sent to the model, which must be one that sees. Else it is told that there are some.
	Images bool
	// Silence is how long the provider may send nothing, [provider.DefaultSilence] if 0.
	Silence time.Duration
	// HTTPClient is copied, and may be nil.
	HTTPClient *http.Client
}

// Model is a model behind chat completions. It can be used from several goroutines.
type Model struct {
	endpoint    *provider.Endpoint
	completions sdk.ChatCompletionService
	model       string
	maxTokens   int64
	images      bool
	// official is a provider that knows max_completion_tokens, and whose newer models insist on it.
	official bool
}

var _ agent.Model = (*Model)(nil)

// New checks the options; it does not ask the provider whether they are right.
func New(options Options) (*Model, error) {
	keyless := options.BaseURL != ""
	if options.BaseURL == "" {
		options.BaseURL = DefaultBaseURL
	}
	endpoint, err := provider.NewEndpoint(Name, options.Key, options.BaseURL, options.HTTPClient, options.Silence)
	switch {
	case err != nil:
		return nil, err
	case endpoint.Key == "" && !keyless:
		return nil, errors.New("openai: an API key is required, unless a base URL names a server that wants none")
	case options.Model == "":
		return nil, errors.New("openai: the name of a model is required")
	case options.MaxTokens < 0:
		return nil, errors.New("openai: the tokens of a turn cannot be less than 0")
	}
	endpoint.Hint = "is the base URL right? It mostly ends with /v1"
	// The service alone, since the SDK's client takes keys, addresses and headers from the environment.
	request := []option.RequestOption{
		option.WithBaseURL(endpoint.BaseURL), option.WithHTTPClient(endpoint.Client), option.WithMaxRetries(0),
	}
	if endpoint.Key != "" {
		request = append(request, option.WithAPIKey(endpoint.Key))
	}
	return &Model{
		endpoint: endpoint, completions: sdk.NewChatCompletionService(request...),
		model: options.Model, maxTokens: options.MaxTokens, images: options.Images, official: official(options.BaseURL),
	}, nil
}

func official(baseURL string) bool {
	parsed, err := url.Parse(baseURL)
	return err == nil && (parsed.Hostname() == "api.openai.com" || strings.HasSuffix(parsed.Hostname(), ".openai.azure.com"))
}

// NextTurn implements [agent.Model].
func (m *Model) NextTurn(ctx context.Context, transcript *agent.Transcript, tools []agent.ToolSpec, text func(string)) (agent.AssistantTurn, error) {
	var response *http.Response
	stream := m.completions.NewStreaming(ctx, m.request(transcript, tools), option.WithResponseInto(&response))
	defer func() { _ = stream.Close() }() // the answer is whole by then, or void
	if err := m.endpoint.Check(ctx, response, stream.Err()); err != nil {
		return agent.AssistantTurn{}, err
	}
	answer := newAnswer(text)
	for stream.Next() {
		answer.add(parseChunk(stream.Current().RawJSON()))
	}
	if answer.stop == "" {
		return agent.AssistantTurn{}, m.broken(ctx, stream.Err())
	}
	return answer.turn(m.model, transcript)
}

// broken is the failure of a stream that did not come to its end.
func (m *Model) broken(ctx context.Context, err error) error {
	var reported *ssestream.StreamError
	if ctx.Err() == nil && errors.As(err, &reported) {
		return m.endpoint.Reported(provider.ParseFault(reported.Event.Data))
	}
	return m.endpoint.Cut(ctx, err)
}
