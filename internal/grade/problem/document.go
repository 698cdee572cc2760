package problem

import (
	"bytes"
	"errors"
	"io"
	"math"
	"strconv"
	"strings"

	"go.yaml.in/yaml/v3"
)

// mapping is a YAML map that is read key by key. Getters report a value of the wrong type and
// then say that it is not there; close reports the keys that nobody asked for.
type mapping struct {
	file   string
	path   string
	line   int
	report *report
	values map[string]*yaml.Node
	lines  map[string]int
	asked  map[string]bool
}

// readMapping reads a settings file. A file that is absent or empty is an empty map; the
// second result tells whether there was a file.
func (f *folder) readMapping(name string, replace func([]byte) []byte) (*mapping, bool) {
	data, found := f.read(name, maxYAMLBytes)
	if !found {
		return newMapping(name, "", nil, f.report), false
	}
	if replace != nil {
		data = replace(data)
	}
	return parseMapping(name, data, f.report), true
}

func parseMapping(name string, data []byte, report *report) *mapping {
	decoder := yaml.NewDecoder(bytes.NewReader(data))
	var document yaml.Node
	err := decoder.Decode(&document)
	if errors.Is(err, io.EOF) || err == nil && len(document.Content) == 0 {
		return newMapping(name, "", nil, report)
	}
	if err != nil {
		report.errorf(name, 0, "is no YAML: %s", shortError(err))
		return newMapping(name, "", nil, report)
	}
	if decoder.Decode(&yaml.Node{}) == nil {
		report.errorf(name, 0, "holds several YAML documents: want one")
	}
	node := resolve(document.Content[0])
	if node.Kind == yaml.ScalarNode && node.Tag == "!!null" {
		node = nil
	}
	return newMapping(name, "", node, report)
}

// shortError keeps a parser's message to one line of bounded length.
func shortError(err error) string {
	return shorten(strings.ReplaceAll(strings.TrimPrefix(err.Error(), "yaml: "), "\n", " "))
}

func newMapping(file, path string, node *yaml.Node, report *report) *mapping {
	m := &mapping{file: file, path: path, report: report, values: map[string]*yaml.Node{}, lines: map[string]int{}, asked: map[string]bool{}}
	if node == nil {
		return m
	}
	m.line = node.Line
	if node.Kind != yaml.MappingNode {
		m.report.errorf(file, node.Line, "%swant a map of keys to values", m.label(""))
		return m
	}
	for i := 0; i+1 < len(node.Content); i += 2 {
		key, value := node.Content[i], resolve(node.Content[i+1])
		if key.Kind != yaml.ScalarNode {
			report.errorf(file, key.Line, "%sa key is no text", m.label(""))
			continue
		}
		if _, twice := m.lines[key.Value]; twice {
			report.errorf(file, key.Line, "%sis given twice", m.label(key.Value))
		}
		m.lines[key.Value] = key.Line
		if value.Kind != yaml.ScalarNode || value.Tag != "!!null" {
			m.values[key.Value] = value
		}
	}
	return m
}

// resolve follows an alias to what it stands for.
func resolve(node *yaml.Node) *yaml.Node {
	for node.Kind == yaml.AliasNode {
		node = node.Alias
	}
	return node
}

// label is how messages name a key: "limits.memory: ".
func (m *mapping) label(key string) string {
	name := strings.Trim(m.path+"."+key, ".")
	if name == "" {
		return ""
	}
	name = shorten(name)
	if quoted := strconv.QuoteToASCII(name); quoted[1:len(quoted)-1] != name {
		name = quoted
	}
	return name + ": "
}

func (m *mapping) errorf(key, format string, args ...any) {
	m.report.errorf(m.file, m.lines[key], m.escaped(key)+format, args...)
}

func (m *mapping) warnf(key, format string, args ...any) {
	m.report.warnf(m.file, m.lines[key], m.escaped(key)+format, args...)
}

func (m *mapping) escaped(key string) string { return strings.ReplaceAll(m.label(key), "%", "%%") }

// has tells whether the key is there with a value other than null.
func (m *mapping) has(key string) bool {
	m.asked[key] = true
	return m.values[key] != nil
}

func (m *mapping) get(key string) *yaml.Node {
	m.asked[key] = true
	return m.values[key]
}

// text returns a string; YAML that reads as a number or truth value is refused.
func (m *mapping) text(key string) (string, bool) {
	node := m.get(key)
	if node == nil {
		return "", false
	}
	if node.Kind != yaml.ScalarNode || node.Tag != "!!str" && node.Tag != "!!timestamp" {
		m.errorf(key, "want a text, got %s; quotes make it one", describe(node))
		return "", false
	}
	return node.Value, true
}

// choice returns a text that must be one of those allowed.
func (m *mapping) choice(key string, allowed ...string) (string, bool) {
	value, found := m.text(key)
	if !found {
		return "", false
	}
	for _, one := range allowed {
		if value == one {
			return value, true
		}
	}
	m.errorf(key, "%q: want one of %s", shorten(value), strings.Join(allowed, ", "))
	return "", false
}

// number returns a finite number from low to high.
func (m *mapping) number(key string, low, high float64) (float64, bool) {
	node := m.get(key)
	if node == nil {
		return 0, false
	}
	var value float64
	if node.Kind != yaml.ScalarNode || node.Tag != "!!int" && node.Tag != "!!float" || node.Decode(&value) != nil || math.IsNaN(value) {
		m.errorf(key, "want a number, got %s", describe(node))
		return 0, false
	}
	if value < low || value > high {
		m.errorf(key, "%s: want a number from %s to %s", shorten(node.Value), decimal(low), decimal(high))
		return 0, false
	}
	return value, true
}

// decimal formats a bound without an exponent.
func decimal(value float64) string { return strconv.FormatFloat(value, 'f', -1, 64) }

// integer returns a whole number from low to high.
func (m *mapping) integer(key string, low, high int64) (int64, bool) {
	value, found := m.number(key, float64(low), float64(high))
	if found && value != math.Trunc(value) {
		m.errorf(key, "%g: want a whole number", value)
		return 0, false
	}
	return int64(value), found
}

func (m *mapping) truth(key string) (value, found bool) {
	node := m.get(key)
	if node == nil {
		return false, false
	}
	if node.Kind != yaml.ScalarNode || node.Tag != "!!bool" || node.Decode(&value) != nil {
		m.errorf(key, "want true or false, got %s", describe(node))
		return false, false
	}
	return value, true
}

// texts returns a sequence of strings. With single, one string alone is a sequence too.
func (m *mapping) texts(key string, single bool) ([]string, bool) {
	node := m.get(key)
	if node == nil {
		return nil, false
	}
	if single && node.Kind == yaml.ScalarNode {
		value, ok := m.text(key)
		return []string{value}, ok
	}
	if node.Kind != yaml.SequenceNode {
		m.errorf(key, "want a sequence of texts, got %s", describe(node))
		return nil, false
	}
	values := make([]string, 0, len(node.Content))
	for _, item := range node.Content {
		item = resolve(item)
		if item.Kind != yaml.ScalarNode || item.Tag != "!!str" {
			m.report.errorf(m.file, item.Line, "%swant texts, got %s; quotes make it one", m.label(key), describe(item))
			return nil, false
		}
		values = append(values, item.Value)
	}
	return values, true
}

// inner returns a map below the key; it is empty when the key is not there.
func (m *mapping) inner(key string) *mapping {
	return newMapping(m.file, strings.Trim(m.path+"."+key, "."), m.get(key), m.report)
}

// isMap tells whether the key holds a map.
func (m *mapping) isMap(key string) bool {
	return m.has(key) && m.values[key].Kind == yaml.MappingNode
}

// ignore marks keys that are known and mean nothing to a judge.
func (m *mapping) ignore(keys ...string) {
	for _, key := range keys {
		m.asked[key] = true
	}
}

// close warns of the keys that nobody asked for.
func (m *mapping) close() {
	for key, line := range m.lines {
		if !m.asked[key] {
			m.report.warnf(m.file, line, "%sis an unknown key and is ignored", m.label(key))
		}
	}
}

func describe(node *yaml.Node) string {
	switch node.Kind {
	case yaml.MappingNode:
		return "a map"
	case yaml.SequenceNode:
		return "a sequence"
	}
	return strconv.Quote(shorten(node.Value))
}
