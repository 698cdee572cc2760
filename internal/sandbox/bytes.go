package sandbox

import (
	"encoding/json"
	"fmt"
	"unicode/utf8"
)

// Bytes is arbitrary data that reads well in JSON: valid UTF-8 is a JSON string,
// anything else an object {"base64": "..."}, and so is text of more than 64 KiB that
// would be longer as a string. Both forms are accepted when read, and every byte comes
// back as it was.
type Bytes []byte

type encodedBytes struct {
	Base64 []byte `json:"base64"`
}

// longText is the size in bytes above which length counts for more than being readable: a
// string can be six times as long as what it stands for, base64 is a third longer.
const longText = 64 << 10

// MarshalJSON writes a string or {"base64": "..."}.
func (b Bytes) MarshalJSON() ([]byte, error) {
	if utf8.Valid(b) && (len(b) <= longText || escapes(b) <= len(b)/3) {
		return json.Marshal(string(b))
	}
	return json.Marshal(encodedBytes{Base64: b})
}

// UnmarshalJSON reads either form that MarshalJSON writes.
func (b *Bytes) UnmarshalJSON(data []byte) error {
	var text string
	if err := json.Unmarshal(data, &text); err == nil {
		*b = Bytes(text)
		return nil
	}
	var encoded encodedBytes
	if err := json.Unmarshal(data, &encoded); err != nil {
		return fmt.Errorf(`want a string or {"base64": "..."}: %w`, err)
	}
	*b = encoded.Base64
	return nil
}

// escapes is by how many bytes text grows in a JSON string.
func escapes(text []byte) int {
	count := 0
	for _, c := range text {
		switch {
		case c == '"' || c == '\\' || c == '\n' || c == '\r' || c == '\t' || c == '\b' || c == '\f':
			count++
		case c < ' ' || c == '<' || c == '>' || c == '&':
			count += len(`\u0000`) - 1
		}
	}
	return count
}
