package sandbox

import (
	"fmt"
	"path"
	"sort"
	"strings"
)

// Languages is the language table. It is read-only once made.
type Languages struct {
	byName  map[string]*Language
	ordered []Language
}

// NewLanguages makes a table. It refuses a name, alias, extension or interpreter
// that two rows claim, and a row without a name, image, file or run argv.
func NewLanguages(rows []Language) (*Languages, error) {
	table := &Languages{byName: map[string]*Language{}, ordered: append([]Language(nil), rows...)}
	sort.Slice(table.ordered, func(i, j int) bool { return table.ordered[i].Name < table.ordered[j].Name })
	claimed := map[string]string{}
	for i := range table.ordered {
		row := &table.ordered[i]
		if row.Name == "" || row.Image == "" || row.File == "" || len(row.Run) == 0 {
			return nil, fmt.Errorf("language %q: name, image, file and run must be set", row.Name)
		}
		for _, key := range append([]string{row.Name}, row.Aliases...) {
			table.byName[key] = row
		}
		for _, claim := range row.claims() {
			if other, taken := claimed[claim]; taken {
				return nil, fmt.Errorf("languages %q and %q both have the %s", other, row.Name, claim)
			}
			claimed[claim] = row.Name
		}
	}
	return table, nil
}

// claims are what must be a row's alone.
func (l Language) claims() []string {
	claims := []string{"name " + l.Name}
	for _, alias := range l.Aliases {
		claims = append(claims, "name "+alias)
	}
	for _, extension := range l.Extensions {
		claims = append(claims, "extension "+extension)
	}
	for _, interpreter := range l.Interpreters {
		claims = append(claims, "interpreter "+interpreter)
	}
	return claims
}

// All returns the rows by name. The caller must not change them.
func (t *Languages) All() []Language { return t.ordered }

// Names returns the rows' names in order.
func (t *Languages) Names() []string {
	names := make([]string, 0, len(t.ordered))
	for _, row := range t.ordered {
		names = append(names, row.Name)
	}
	return names
}

// Lookup finds a row by name or alias. The error is an *UnknownLanguageError.
func (t *Languages) Lookup(name string) (Language, error) {
	row, found := t.byName[name]
	if !found {
		return Language{}, &UnknownLanguageError{Name: name, Known: t.Names()}
	}
	return *row, nil
}

// Detect tells the language of a file by its extension or else by its #! line.
// It reports false when neither is known.
func (t *Languages) Detect(name string, content []byte) (Language, bool) {
	for _, row := range t.ordered {
		if row.hasExtension(name) {
			return row, true
		}
	}
	interpreter := shebang(content)
	for _, row := range t.ordered {
		for _, known := range row.Interpreters {
			if interpreter == known {
				return row, true
			}
		}
	}
	return Language{}, false
}

// shebang returns the base name of the interpreter of a #! line: python3 for
// "#!/usr/bin/env -S python3 -u" and for "#!/usr/bin/python3".
func shebang(content []byte) string {
	line, _, _ := strings.Cut(string(content[:min(len(content), 256)]), "\n")
	rest, found := strings.CutPrefix(line, "#!")
	if !found {
		return ""
	}
	words := strings.Fields(rest)
	for i, word := range words {
		if i == 0 && path.Base(word) != "env" {
			return path.Base(word)
		}
		if i > 0 && !strings.HasPrefix(word, "-") && !strings.Contains(word, "=") {
			return path.Base(word)
		}
	}
	return ""
}
