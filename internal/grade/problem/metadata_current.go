package problem

import (
	"regexp"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"
)

var (
	uuidPattern     = regexp.MustCompile(`^[0-9a-fA-F]{8}-([0-9a-fA-F]{4}-){3}[0-9a-fA-F]{12}$`)
	constantPattern = regexp.MustCompile(`^[a-zA-Z_][a-zA-Z0-9_]*$`)
	languageCode    = regexp.MustCompile(`^[a-z]{2,3}(-[A-Z]{2})?$`)
)

// readCurrent reads the keys of the format since 2023-07.
func readCurrent(m *mapping, meta *Metadata) {
	readNames(m, meta)
	if meta.UUID == "" {
		m.errorf("uuid", "is missing: want a UUID")
	} else if !uuidPattern.MatchString(meta.UUID) {
		m.errorf("uuid", "%q: want a UUID of 32 hexadecimal digits in five groups", shorten(meta.UUID))
	}
	readTypes(m, meta)
	meta.CustomScore = meta.Scoring
	if languages, found := m.texts("languages", true); found && !slices.Equal(languages, []string{"all"}) {
		meta.Languages = languages
		if len(languages) == 0 {
			m.errorf("languages", "want all or a sequence of at least one language")
		}
	}
	meta.AllowFileWriting, _ = m.truth("allow_file_writing")
	readConstants(m, meta)
	m.texts("keywords", false)
	m.text("version")
	m.text("embargo_until")
	// People and sources are shown nowhere, so their many forms are not checked.
	m.ignore("credits", "source")
	if meta.Limits.ValidationPasses > 0 && !meta.MultiPass {
		m.errorf("limits", "validation_passes is only for problems of type multi-pass")
	}
}

func readNames(m *mapping, meta *Metadata) {
	if !m.has("name") {
		m.errorf("name", "is missing: want a text, or a map of language codes to texts")
		return
	}
	if !m.isMap("name") {
		if name, found := m.text("name"); found {
			meta.Names["en"] = name
		}
		return
	}
	names := m.inner("name")
	for code := range names.values {
		if !languageCode.MatchString(code) {
			names.errorf(code, "want a language code such as en or pt-BR")
		}
		if name, found := names.text(code); found {
			meta.Names[code] = name
		}
	}
	if len(names.values) == 0 {
		m.errorf("name", "is empty")
	}
}

func readTypes(m *mapping, meta *Metadata) {
	types, found := m.texts("type", true)
	if !found {
		return
	}
	if len(types) == 0 {
		m.errorf("type", "is empty: want at least one type")
	}
	seen := map[string]bool{}
	for _, name := range types {
		if seen[name] {
			m.errorf("type", "%s is given twice", name)
		}
		seen[name] = true
		switch name {
		case "pass-fail":
		case "scoring":
			meta.Scoring = true
		case "multi-pass":
			meta.MultiPass = true
		case "interactive":
			meta.Interactive = true
		case "submit-answer":
			meta.SubmitAnswer = true
		default:
			m.errorf("type", "%q: want any of pass-fail, scoring, multi-pass, interactive, submit-answer", shorten(name))
		}
	}
	for _, pair := range [][2]string{{"pass-fail", "scoring"}, {"submit-answer", "multi-pass"}, {"submit-answer", "interactive"}} {
		if seen[pair[0]] && seen[pair[1]] {
			m.errorf("type", "%s and %s exclude each other", pair[0], pair[1])
		}
	}
}

func readConstants(m *mapping, meta *Metadata) {
	constants := m.inner("constants")
	for name, node := range constants.values {
		switch {
		case !constantPattern.MatchString(name):
			constants.errorf(name, "want a name of letters, digits and _ that does not begin with a digit")
		case node.Kind != yaml.ScalarNode || node.Tag != "!!str" && node.Tag != "!!int" && node.Tag != "!!float":
			constants.errorf(name, "want a number or a text, got %s", describe(node))
		default:
			if meta.Constants == nil {
				meta.Constants = map[string]string{}
			}
			meta.Constants[name] = node.Value
		}
	}
}

// replaceConstants replaces {{name}} by its value. Names that are not defined stay.
func (m Metadata) replaceConstants(data []byte) []byte {
	if len(m.Constants) == 0 {
		return data
	}
	pairs := make([]string, 0, 2*len(m.Constants))
	for name, value := range m.Constants {
		pairs = append(pairs, "{{"+name+"}}", value)
	}
	return []byte(strings.NewReplacer(pairs...).Replace(string(data)))
}
