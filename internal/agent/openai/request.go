package openai

import (
	"encoding/base64"
	"strings"

	sdk "github.com/openai/openai-go/v3"
	"github.com/openai/openai-go/v3/packages/param"

	"github.com/sandloop/sandloop/internal/agent"
	"github.com/sandloop/sandloop/internal/agent/provider"
)

// request is a transcript in the provider's form.
func (m *Model) request(transcript *agent.Transcript, tools []agent.ToolSpec) sdk.ChatCompletionNewParams {
	request := sdk.ChatCompletionNewParams{
		Model: m.model, Messages: m.conversation(transcript),
		StreamOptions: sdk.ChatCompletionStreamOptionsParam{IncludeUsage: sdk.Bool(true)},
	}
	switch {
	case m.maxTokens > 0 && m.official:
		request.MaxCompletionTokens = sdk.Int(m.maxTokens)
	case m.maxTokens > 0:
		request.MaxTokens = sdk.Int(m.maxTokens)
	}
	for _, tool := range tools {
		function := sdk.FunctionDefinitionParam{Name: tool.Name, Description: sdk.String(tool.Description)}
		function.SetExtraFields(map[string]any{"parameters": tool.Schema}) // as it is, in its order
		request.Tools = append(request.Tools, sdk.ChatCompletionFunctionTool(function))
	}
	return request
}

// conversation joins messages of the user that follow each other, and drops empty ones: templates of local models mostly
// want the sides to alternate.
func (m *Model) conversation(transcript *agent.Transcript) []sdk.ChatCompletionMessageParamUnion {
	var c conversation
	if !provider.Blank(transcript.System) {
		c.messages = append(c.messages, sdk.SystemMessage(transcript.System))
	}
	task := lastTask(transcript.Messages)
	for i, message := range transcript.Messages {
		switch message.Role {
		case agent.RoleAssistant:
			c.assistant(message, m.thoughtsSince(task, i, message))
		case agent.RoleTool:
			c.results(message.Results, m.images)
		default:
			c.user(message.Text)
		}
	}
	c.flush()
	return c.messages
}

// lastTask is the number of the user's last message. Models want back the thoughts since then, and no older ones.
func lastTask(messages []agent.Message) int {
	for i := len(messages) - 1; i >= 0; i-- {
		if messages[i].Role == agent.RoleUser {
			return i
		}
	}
	return -1
}

func (m *Model) thoughtsSince(task, number int, message agent.Message) map[string]any {
	if number < task {
		return nil
	}
	return m.recall(message.Opaque)
}

// conversation is a list of messages in the provider's form, of which the last one of the user may still grow.
type conversation struct {
	messages []sdk.ChatCompletionMessageParamUnion
	pending  []sdk.ChatCompletionContentPartUnionParam
}

func (c *conversation) user(text string) {
	if !provider.Blank(text) {
		c.pending = append(c.pending, sdk.TextContentPart(text))
	}
}

// flush ends the user's message. Without pictures it is a string, since not every server knows parts.
func (c *conversation) flush() {
	if len(c.pending) == 0 {
		return
	}
	var texts []string
	for _, p := range c.pending {
		if p.OfText != nil {
			texts = append(texts, p.OfText.Text)
		}
	}
	if len(texts) == len(c.pending) {
		c.messages = append(c.messages, sdk.UserMessage(strings.Join(texts, "\n\n")))
	} else {
		c.messages = append(c.messages, sdk.UserMessage(c.pending))
	}
	c.pending = nil
}

func (c *conversation) assistant(message agent.Message, thoughts map[string]any) {
	var turn sdk.ChatCompletionAssistantMessageParam
	if !provider.Blank(message.Text) {
		turn.Content.OfString = sdk.String(message.Text)
	}
	for _, call := range message.Calls {
		turn.ToolCalls = append(turn.ToolCalls, sdk.ChatCompletionMessageToolCallUnionParam{
			OfFunction: &sdk.ChatCompletionMessageFunctionToolCallParam{ID: call.ID, Function: sdk.ChatCompletionMessageFunctionToolCallFunctionParam{
				Name: provider.Name(call.Name), Arguments: string(provider.Arguments(call)),
			}},
		})
	}
	if len(turn.ToolCalls) == 0 && param.IsOmitted(turn.Content.OfString) {
		return
	}
	turn.SetExtraFields(thoughts)
	c.flush()
	c.messages = append(c.messages, sdk.ChatCompletionMessageParamUnion{OfAssistant: &turn})
}

// results are a message for each. Pictures follow in one of the user's, since a tool's has text alone.
func (c *conversation) results(results []agent.ToolResult, sees bool) {
	c.flush()
	for _, result := range results {
		shown, hidden := provider.Images(result.Images, sees)
		c.messages = append(c.messages, sdk.ToolMessage(resultText(result, hidden), result.CallID))
		for _, image := range shown {
			c.pending = append(c.pending, sdk.TextContentPart(image.Path+":"), picture(image))
		}
	}
}

// resultText marks an error in words: there is no field for it.
func resultText(result agent.ToolResult, hidden string) string {
	text := strings.TrimSpace(result.Text + "\n" + hidden)
	if text == "" {
		text = "(empty)"
	}
	if result.IsError && !strings.HasPrefix(strings.ToLower(text), "error") {
		text = "Error: " + text
	}
	return text
}

func picture(image agent.Image) sdk.ChatCompletionContentPartUnionParam {
	return sdk.ImageContentPart(sdk.ChatCompletionContentPartImageImageURLParam{
		URL: "data:" + image.MIME + ";base64," + base64.StdEncoding.EncodeToString(image.Data),
	})
}
