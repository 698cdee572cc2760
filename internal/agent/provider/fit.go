package provider

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"

	"github.com/sandloop/sandloop/internal/agent"
)

// Arguments are those of a call as a JSON object, which every provider insists on. What a model wrote that is none is
// kept as text within one, so that it can see its mistake.
func Arguments(call agent.ToolCall) json.RawMessage {
	if Blank(call.Arguments) {
		return json.RawMessage(`{}`)
	}
	if raw := []byte(call.Arguments); json.Valid(raw) && bytes.HasPrefix(bytes.TrimSpace(raw), []byte("{")) {
		return raw
	}
	// A map of a string always becomes JSON.
	wrapped, _ := json.Marshal(map[string]string{"malformed_arguments": call.Arguments})
	return wrapped
}

// Name is a name or id made fit for providers, who take letters, digits, _ and - alone.
func Name(name string) string {
	if name == "" {
		return "unknown"
	}
	return strings.Map(func(r rune) rune {
		switch {
		case r >= 'a' && r <= 'z', r >= 'A' && r <= 'Z', r >= '0' && r <= '9', r == '_', r == '-':
			return r
		}
		return '_'
	}, name)
}

// Blank tells whether a text has nothing but white space, which providers refuse.
func Blank(text string) bool { return strings.TrimSpace(text) == "" }

// maxImage is 5 MB as base64, in bytes.
const maxImage = 5_000_000 / 4 * 3

// Images parts those of a result that a model is shown from those that it is not, and says in words what the latter are.
// A model that does not see is shown none.
func Images(images []agent.Image, sees bool) (shown []agent.Image, hidden string) {
	var notes []string
	for _, image := range images {
		if sees && visible(image) {
			shown = append(shown, image)
			continue
		}
		notes = append(notes, fmt.Sprintf("[%s (%s, %d bytes) cannot be shown to you]", image.Path, image.MIME, len(image.Data)))
	}
	return shown, strings.Join(notes, "\n")
}

// visible tells whether providers take an image. One that they do not would have the whole conversation refused.
func visible(image agent.Image) bool {
	switch image.MIME {
	case "image/png", "image/jpeg", "image/gif", "image/webp":
		return len(image.Data) > 0 && len(image.Data) <= maxImage
	}
	return false
}
