package openai

import "encoding/json"

// chunk is a piece of a streamed answer, as far as it matters.
type chunk struct {
	Model   string   `json:"model"`
	Choices []choice `json:"choices"`
	Usage   *usage   `json:"usage"`
}

// parseChunk reads what the SDK found to be JSON; its types do not tell a number that is missing from 0, nor know what
// other servers add. A field of an unheard-of type stays empty, and the others count.
func parseChunk(text string) chunk {
	var piece chunk
	_ = json.Unmarshal([]byte(text), &piece)
	return piece
}

type choice struct {
	Delta        delta  `json:"delta"`
	FinishReason string `json:"finish_reason"`
}

type delta struct {
	Content string `json:"content"`
	Refusal string `json:"refusal"`
	// ReasoningContent and Reasoning are the thoughts of a model under the two names that are about.
	ReasoningContent string     `json:"reasoning_content"`
	Reasoning        string     `json:"reasoning"`
	ToolCalls        []fragment `json:"tool_calls"`
}

// fragment is a piece of a call.
type fragment struct {
	Index    *int   `json:"index"`
	ID       string `json:"id"`
	Function struct {
		Name string `json:"name"`
		// Arguments is a string, or from some servers the object itself.
		Arguments json.RawMessage `json:"arguments"`
	} `json:"function"`
}

// arguments is the text of the arguments in a fragment.
func (f fragment) arguments() string {
	var text string
	if len(f.Function.Arguments) == 0 || json.Unmarshal(f.Function.Arguments, &text) == nil {
		return text
	}
	return string(f.Function.Arguments)
}

type usage struct {
	PromptTokens        int64 `json:"prompt_tokens"`
	CompletionTokens    int64 `json:"completion_tokens"`
	PromptTokensDetails struct {
		CachedTokens     int64 `json:"cached_tokens"`
		CacheWriteTokens int64 `json:"cache_write_tokens"`
	} `json:"prompt_tokens_details"`
}
