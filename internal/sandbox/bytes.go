package sandbox

import (
	"encoding/json"
	"fmt"
	"unicode/utf8"
)

// Bytes is arbitrary data that reads well in JSON: valid UTF-8 is a JSON string,
// anything else an object {"base64": "..."}. Both forms are accepted when read,
// and every byte comes back as it was.
type Bytes []byte

type encodedBytes struct {
	Base64 []byte `json:"base64"`
}

// MarshalJSON writes a string for valid UTF-8 and {"base64": "..."} otherwise.
func (b Bytes) MarshalJSON() ([]byte, error) {
	if utf8.Valid(b) {
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
