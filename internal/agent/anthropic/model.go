// Package anthropic asks models through Anthropic's Messages API.
//
// Its one invariant: a turn is returned only if its stream came to its end, and whatever the provider has signed goes
// back to it unchanged. It may import internal/agent, internal/agent/provider and Anthropic's SDK, and reads nothing of
// the environment but what net/http reads of it for a proxy.
package anthropic

import (
	"context"
	"errors"
	"net/http"
	"time"

	sdk "github.com/anthropics/anthropic-sdk-go"
	"github.com/anthropics/anthropic-sdk-go/option"

	"github.com/sandloop/sandloop/internal/agent"
	"github.com/sandloop/sandloop/internal/agent/provider"
)

// Name is what a transcript calls this provider.
const Name = "anthropic"

// DefaultBaseURL is where Anthropic serves its models.
const DefaultBaseURL = "https://api.anthropic.com"

// DefaultMaxTokens bounds a turn if nothing else is asked for. It is enough for long programs and below what every
// present model allows.
const DefaultMaxTokens = 8192

// Options say what to ask, and where.
type Options struct {
	// Key is required. It goes into a header and nowhere else.
	Key string
	// Model is required, for instance claude-sonnet-4-5.
	Model string
	// BaseURL is [DefaultBaseURL] if empty.
	BaseURL string
	// MaxTokens bounds what a turn can say, [DefaultMaxTokens] if 0.
	MaxTokens int64
	// Silence is how long the provider may send nothing, [provider.DefaultSilence] if 0.
	Silence time.Duration
	// HTTPClient is copied, and may be nil.
	HTTPClient *http.Client
}

// Model is a model at Anthropic. It can be used from several goroutines.
type Model struct {
	endpoint  *provider.Endpoint
	messages  sdk.MessageService
	model     string
	maxTokens int64
}

var _ agent.Model = (*Model)(nil)

// New checks the options; it does not ask the provider whether they are right.
func New(options Options) (*Model, error) {
	if options.BaseURL == "" {
		options.BaseURL = DefaultBaseURL
	}
	endpoint, err := provider.NewEndpoint(Name, options.Key, options.BaseURL, options.HTTPClient, options.Silence)
	switch {
	case err != nil:
		return nil, err
	case endpoint.Key == "":
		return nil, errors.New("anthropic: an API key is required")
	case options.Model == "":
		return nil, errors.New("anthropic: the name of a model is required")
	case options.MaxTokens < 0:
		return nil, errors.New("anthropic: the tokens of a turn cannot be less than 0")
	}
	if options.MaxTokens == 0 {
		options.MaxTokens = DefaultMaxTokens
	}
	endpoint.Hint = "is the base URL right, or the model's name?"
	return &Model{
		endpoint: endpoint, model: options.Model, maxTokens: options.MaxTokens,
		// The service alone, since the SDK's client takes keys and addresses from the environment and from files.
		messages: sdk.NewMessageService(
			option.WithBaseURL(endpoint.BaseURL), option.WithAPIKey(endpoint.Key), option.WithHTTPClient(endpoint.Client),
			option.WithMaxRetries(0), option.WithoutOpenTelemetry(),
		),
	}, nil
}

// NextTurn implements [agent.Model].
func (m *Model) NextTurn(ctx context.Context, transcript *agent.Transcript, tools []agent.ToolSpec, text func(string)) (agent.AssistantTurn, error) {
	var response *http.Response
	stream := m.messages.NewStreaming(ctx, m.request(transcript, tools), option.WithResponseInto(&response))
	defer func() { _ = stream.Close() }() // the answer is whole by then, or void
	if err := m.endpoint.Check(ctx, response, stream.Err()); err != nil {
		return agent.AssistantTurn{}, err
	}
	answer := newAnswer(m.model, text)
	for stream.Next() {
		answer.add(stream.Current())
	}
	if !answer.ended {
		return agent.AssistantTurn{}, m.broken(ctx, stream.Err())
	}
	return answer.turn()
}

// broken is the failure of a stream that did not come to its end.
func (m *Model) broken(ctx context.Context, err error) error {
	var reported *sdk.Error
	if ctx.Err() == nil && errors.As(err, &reported) {
		return m.endpoint.Reported(provider.ParseFault([]byte(reported.RawJSON())))
	}
	return m.endpoint.Cut(ctx, err)
}
