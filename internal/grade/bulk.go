package grade

import (
	"bytes"
	"encoding/json"
	"fmt"
)

// maxConnections is more than a result tells one by one.
const maxConnections = 1000

// bulky are the fields of jobs, suites and results whose elements are large in memory, however short they are in JSON, with how many there can be.
var bulky = []struct {
	key  string
	kind byte // '[' or '{'
	most int
}{
	{"tests", '[', maxTests},
	{"known", '{', maxTests},
	{"programs", '[', maxCheckers},
	{"connections", '[', maxConnections},
}

const (
	// shortestObject is less than how many bytes of JSON each object of a right job, suite or result has: {"path":"a","data":{}}, are 23 bytes for two.
	shortestObject = 11
	// fewObjects are never too many.
	fewObjects = 1000
	// maxNesting is how deep JSON can be that encoding/json reads.
	maxNesting = 10_000
)

// CheckBulk refuses JSON of a job, a suite or a result that would take far more memory when it is read than its length tells: an empty object
// is two bytes and can become hundreds. It does not check anything else, not even that it is JSON. It takes no memory to speak of.
func CheckBulk(data []byte) error {
	type container struct {
		key      []byte
		most     int // elements, or 0 for any number
		elements int
	}
	var open []container
	var text, key []byte // the last string, and the name of the field that begins
	objects, allowed := 0, fewObjects+len(data)/shortestObject
	for i := 0; i < len(data); i++ {
		switch c := data[i]; c {
		case '"':
			end := endOfString(data, i+1)
			if end == len(data) {
				return nil
			}
			text, i = data[i+1:end], end
		case ':':
			key = text
		case ',':
			key = nil
			if len(open) == 0 {
				continue
			}
			top := &open[len(open)-1]
			if top.elements++; top.most > 0 && top.elements >= top.most {
				return fmt.Errorf("%s: more than %d are given", top.key, top.most)
			}
		case '{', '[':
			if len(open) == maxNesting {
				return fmt.Errorf("lies more than %d levels deep", maxNesting)
			}
			open = append(open, container{key: key, most: mostUnder(key, c)})
			key = nil
		case '}', ']':
			open = open[:max(0, len(open)-1)]
		}
		if c := data[i]; c == '{' || c == 'n' { // null makes an element too
			if objects++; objects <= allowed {
				continue
			}
			return fmt.Errorf("more than %d objects in %d bytes", allowed, len(data))
		}
	}
	return nil
}

// mostUnder is how many elements an array or object under a key can have, or 0 if it is no bulky one.
func mostUnder(key []byte, kind byte) int {
	if bytes.IndexByte(key, '\\') >= 0 { // encoding/json knows a field in any spelling
		var plain string
		if json.Unmarshal([]byte(`"`+string(key)+`"`), &plain) == nil {
			key = []byte(plain)
		}
	}
	for _, field := range bulky {
		if kind == field.kind && bytes.EqualFold(key, []byte(field.key)) {
			return field.most
		}
	}
	return 0
}

// endOfString finds the quote that ends the string that begins at a byte, or the end of data.
func endOfString(data []byte, at int) int {
	for at < len(data) {
		quote := bytes.IndexByte(data[at:], '"')
		if quote < 0 {
			break
		}
		quote += at
		slashes := 0
		for quote-slashes > at && data[quote-slashes-1] == '\\' {
			slashes++
		}
		if slashes%2 == 0 {
			return quote
		}
		at = quote + 1
	}
	return len(data)
}
