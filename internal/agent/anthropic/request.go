package anthropic

import (
	sdk "github.com/anthropics/anthropic-sdk-go"
	"github.com/anthropics/anthropic-sdk-go/packages/param"

	"github.com/sandloop/sandloop/internal/agent"
	"github.com/sandloop/sandloop/internal/agent/provider"
)

// request is a transcript in the provider's form.
func (m *Model) request(transcript *agent.Transcript, tools []agent.ToolSpec) sdk.MessageNewParams {
	request := sdk.MessageNewParams{Model: m.model, MaxTokens: m.maxTokens, Messages: m.conversation(transcript.Messages)}
	if !provider.Blank(transcript.System) {
		request.System = []sdk.TextBlockParam{{Text: transcript.System}}
	}
	if len(tools) == 0 {
		tools = usedTools(transcript)
		if len(tools) > 0 {
			request.ToolChoice.OfNone = &sdk.ToolChoiceNoneParam{}
		}
	}
	for _, tool := range tools {
		request.Tools = append(request.Tools, sdk.ToolUnionParam{OfTool: &sdk.ToolParam{
			Name: tool.Name, Description: sdk.String(tool.Description),
			InputSchema: param.Override[sdk.ToolInputSchemaParam](tool.Schema),
		}})
	}
	mark(&request)
	return request
}

// usedTools stand in for the tools of a turn that may not call any: the provider refuses calls in a conversation whose
// tools it is not told.
func usedTools(transcript *agent.Transcript) []agent.ToolSpec {
	var tools []agent.ToolSpec
	seen := map[string]bool{}
	for _, message := range transcript.Messages {
		for _, call := range message.Calls {
			if name := provider.Name(call.Name); !seen[name] {
				seen[name] = true
				tools = append(tools, agent.ToolSpec{Name: name, Description: "Not to be used now.", Schema: []byte(`{"type":"object"}`)})
			}
		}
	}
	return tools
}

// mark says up to where the provider should keep a request in its cache: to the end of what never changes, and to the
// end of both the last request and this one, because an entry is looked for only some blocks back.
func mark(request *sdk.MessageNewParams) {
	ephemeral := sdk.NewCacheControlEphemeralParam()
	if len(request.System) > 0 {
		request.System[len(request.System)-1].CacheControl = ephemeral
	} else if len(request.Tools) > 0 {
		request.Tools[len(request.Tools)-1].OfTool.CacheControl = ephemeral
	}
	marks := 0
	for i := len(request.Messages) - 1; i >= 0 && marks < 2; i-- {
		message := request.Messages[i]
		if message.Role == sdk.MessageParamRoleUser {
			*message.Content[len(message.Content)-1].GetCacheControl() = ephemeral
			marks++
		}
	}
}

// conversation joins messages of the same side, which the provider wants to alternate, and drops empty ones.
func (m *Model) conversation(messages []agent.Message) []sdk.MessageParam {
	var conversation []sdk.MessageParam
	for _, message := range messages {
		role, blocks := sdk.MessageParamRoleUser, userBlocks(message)
		if message.Role == agent.RoleAssistant {
			role, blocks = sdk.MessageParamRoleAssistant, m.assistantBlocks(message)
		}
		if len(blocks) == 0 {
			continue
		}
		if last := len(conversation) - 1; last >= 0 && conversation[last].Role == role {
			conversation[last].Content = append(conversation[last].Content, blocks...)
			continue
		}
		conversation = append(conversation, sdk.MessageParam{Role: role, Content: blocks})
	}
	return conversation
}
