package anthropic

import (
	"strings"

	sdk "github.com/anthropics/anthropic-sdk-go"

	"github.com/sandloop/sandloop/internal/agent"
)

// answer grows with the events of a stream. The SDK's own accumulator refuses arguments that are no JSON.
type answer struct {
	asked string
	text  func(string)

	parts   []*part
	byIndex map[int64]*part
	calls   map[*part]*agent.ToolCall
	model   string
	stop    sdk.StopReason
	reason  string
	usage   agent.Usage
	ended   bool
}

// between stands between two texts of a turn.
const between = "\n\n"

func newAnswer(asked string, text func(string)) *answer {
	if text == nil {
		text = func(string) {}
	}
	return &answer{asked: asked, text: text, byIndex: map[int64]*part{}, calls: map[*part]*agent.ToolCall{}}
}

func (a *answer) add(event sdk.MessageStreamEventUnion) {
	switch event.Type {
	case "message_start":
		usage := event.Message.Usage
		a.model = event.Message.Model
		a.count(usage.InputTokens, usage.OutputTokens, usage.CacheReadInputTokens, usage.CacheCreationInputTokens)
	case "content_block_start":
		a.begin(event.Index, event.ContentBlock)
	case "content_block_delta":
		a.grow(event.Index, event.Delta)
	case "message_delta":
		usage := event.Usage
		a.stop, a.reason = event.Delta.StopReason, event.Delta.StopDetails.Explanation
		a.count(usage.InputTokens, usage.OutputTokens, usage.CacheReadInputTokens, usage.CacheCreationInputTokens)
	case "message_stop":
		a.ended = true
	}
}

// count takes the latest figures, which are sums; some events have only a few of them.
func (a *answer) count(input, output, cacheRead, cacheWrite int64) {
	a.usage = agent.Usage{
		Input: max(a.usage.Input, input), Output: max(a.usage.Output, output),
		CacheRead: max(a.usage.CacheRead, cacheRead), CacheWrite: max(a.usage.CacheWrite, cacheWrite),
	}
}

// begin starts a block. One of a kind that was not asked for is left out.
func (a *answer) begin(index int64, block sdk.ContentBlockStartEventContentBlockUnion) {
	p := &part{Type: block.Type}
	switch block.Type {
	case typeText:
		a.say(p, block.Text)
	case typeThinking:
		p.Thinking, p.Signature = block.Thinking, block.Signature
	case typeRedacted:
		p.Data = block.Data
	case typeCall:
		p.ID = block.ID
		a.calls[p] = &agent.ToolCall{ID: block.ID, Name: block.Name}
	default:
		return
	}
	a.parts = append(a.parts, p)
	a.byIndex[index] = p
}

// spoken tells whether the model has said something.
func (a *answer) spoken() bool {
	for _, p := range a.parts {
		if p.Text != "" {
			return true
		}
	}
	return false
}

func (a *answer) say(p *part, piece string) {
	if piece == "" {
		return
	}
	if p.Text == "" && a.spoken() {
		a.text(between)
	}
	p.Text += piece
	a.text(piece)
}

func (a *answer) grow(index int64, delta sdk.MessageStreamEventUnionDelta) {
	p, ok := a.byIndex[index]
	if !ok {
		return
	}
	switch delta.Type {
	case "text_delta":
		a.say(p, delta.Text)
	case "thinking_delta":
		p.Thinking += delta.Thinking
	case "signature_delta":
		p.Signature += delta.Signature
	case "input_json_delta":
		if call, ok := a.calls[p]; ok {
			call.Arguments += delta.PartialJSON
		}
	}
}

// turn is the whole answer.
func (a *answer) turn() (agent.AssistantTurn, error) {
	var texts []string
	var parts []part
	turn := agent.AssistantTurn{Model: a.model, Usage: a.usage, Finish: finish(a.stop)}
	for _, p := range a.parts {
		parts = append(parts, *p)
		if p.Text != "" {
			texts = append(texts, p.Text)
		}
		if call, ok := a.calls[p]; ok {
			if call.Arguments == "" {
				call.Arguments = "{}"
			}
			turn.Calls = append(turn.Calls, *call)
		}
	}
	turn.Text = strings.Join(texts, between)
	if turn.Text == "" && turn.Finish == agent.FinishRefusal {
		turn.Text = a.reason
	}
	var err error
	turn.Opaque, err = keep(a.asked, parts)
	return turn, err
}

func finish(reason sdk.StopReason) agent.Finish {
	switch reason {
	case sdk.StopReasonMaxTokens, sdk.StopReasonModelContextWindowExceeded:
		return agent.FinishLength
	case sdk.StopReasonRefusal:
		return agent.FinishRefusal
	case sdk.StopReasonPauseTurn:
		return agent.FinishPause
	}
	return agent.FinishDone
}
