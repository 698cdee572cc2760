package anthropic

import (
	"encoding/base64"
	"strings"

	sdk "github.com/anthropics/anthropic-sdk-go"

	"github.com/sandloop/sandloop/internal/agent"
	"github.com/sandloop/sandloop/internal/agent/provider"
)

// userBlocks are a message of the user or the results of tools, which must stand before any text.
func userBlocks(message agent.Message) []sdk.ContentBlockParamUnion {
	var results, rest []sdk.ContentBlockParamUnion
	for _, result := range message.Results {
		block, beside := resultBlock(result)
		results = append(results, block)
		rest = append(rest, beside...)
	}
	if !provider.Blank(message.Text) {
		rest = append(rest, sdk.NewTextBlock(message.Text))
	}
	return append(results, rest...)
}

// resultBlock is a result of a tool, and what must stand beside it: an error may only have text within.
func resultBlock(result agent.ToolResult) (block sdk.ContentBlockParamUnion, beside []sdk.ContentBlockParamUnion) {
	shown, hidden := provider.Images(result.Images, true)
	text := strings.TrimSpace(result.Text + "\n" + hidden)
	if text == "" && (result.IsError || len(shown) == 0) {
		text = "(empty)"
	}
	content := &sdk.ToolResultBlockParam{ToolUseID: provider.Name(result.CallID)}
	if result.IsError {
		content.IsError = sdk.Bool(true)
	}
	if text != "" {
		content.Content = append(content.Content, sdk.ToolResultBlockParamContentUnion{OfText: &sdk.TextBlockParam{Text: text}})
	}
	for _, image := range shown {
		picture := sdk.NewImageBlockBase64(image.MIME, base64.StdEncoding.EncodeToString(image.Data))
		if result.IsError {
			beside = append(beside, picture)
			continue
		}
		content.Content = append(content.Content, sdk.ToolResultBlockParamContentUnion{OfImage: picture.OfImage})
	}
	return sdk.ContentBlockParamUnion{OfToolResult: content}, beside
}

// assistantBlocks are a turn of the model as it said it, with the thoughts that the provider signed if it was this model.
// Every call of the transcript is among them once.
func (m *Model) assistantBlocks(message agent.Message) []sdk.ContentBlockParamUnion {
	order := m.recall(message.Opaque)
	if order == nil {
		order = []part{{Type: typeText, Text: message.Text}}
	}
	left := map[string]agent.ToolCall{}
	for _, call := range message.Calls {
		left[call.ID] = call
		order = append(order, part{Type: typeCall, ID: call.ID}) // counts only if the call is not before it
	}
	var blocks []sdk.ContentBlockParamUnion
	spoken := false
	for _, p := range order {
		block, speaks := p.block(left)
		if block != nil {
			blocks = append(blocks, *block)
			spoken = spoken || speaks
		}
	}
	if !spoken {
		return nil // thoughts alone are refused
	}
	return blocks
}

// block is a part as the provider wants it back, nil for one that says nothing or whose call is not left. It takes the
// call from those that are left.
func (p part) block(left map[string]agent.ToolCall) (block *sdk.ContentBlockParamUnion, speaks bool) {
	var made sdk.ContentBlockParamUnion
	switch p.Type {
	case typeThinking:
		if p.Signature == "" {
			return nil, false // it was cut, and unsigned thoughts are refused
		}
		made = sdk.NewThinkingBlock(p.Signature, p.Thinking)
	case typeRedacted:
		made = sdk.NewRedactedThinkingBlock(p.Data)
	case typeText:
		// White space at the end of the last turn is refused.
		text := strings.TrimRight(p.Text, " \t\r\n")
		if text == "" {
			return nil, false
		}
		made, speaks = sdk.NewTextBlock(text), true
	case typeCall:
		call, ok := left[p.ID]
		if !ok {
			return nil, false
		}
		delete(left, p.ID)
		made, speaks = sdk.NewToolUseBlock(provider.Name(call.ID), provider.Arguments(call), provider.Name(call.Name)), true
	default:
		return nil, false
	}
	return &made, speaks
}
