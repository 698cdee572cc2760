package submissions

import (
	"fmt"
	"path"
	"slices"
	"strings"
	"unicode"
)

// ignored tells that a name is no part of a submission: hidden files, and what systems and editors leave behind.
func ignored(name string) bool {
	return strings.HasPrefix(name, ".") || strings.HasSuffix(name, "~") ||
		slices.Contains([]string{"__MACOSX", "__pycache__", "Thumbs.db", "desktop.ini"}, name)
}

func hidden(elements []string) bool { return slices.ContainsFunc(elements, ignored) }

// maxIDBytes bounds an id.
const maxIDBytes = 200

// printable is text as it can be shown and sorted: control characters and what is not UTF-8 become U+FFFD.
func printable(text string) string {
	text = strings.Map(func(r rune) rune {
		if !unicode.IsPrint(r) {
			return unicode.ReplacementChar
		}
		return r
	}, strings.ToValidUTF8(text, "\uFFFD"))
	if len(text) > maxIDBytes {
		text = strings.ToValidUTF8(text[:maxIDBytes], "")
	}
	return text
}

// nameAll gives each submission the shortest name that no other has: without its extension, with
// it, with the source's name before it, with a number behind it.
func nameAll(plans []*plan) {
	type candidate struct {
		*planned
		names []string
	}
	var all []candidate
	for _, plan := range plans {
		for _, one := range plan.order {
			short := one.name
			if one.isFile && one.problem == "" {
				short = strings.TrimSuffix(short, path.Ext(short))
			}
			prefix := ""
			if one.group != "" {
				prefix = one.group + "/"
			}
			all = append(all, candidate{one, []string{
				printable(prefix + short), printable(prefix + one.name), printable(plan.source.name() + "/" + prefix + one.name),
			}})
		}
	}
	taken := map[string]bool{}
	for level := range 3 {
		wanted := map[string]int{}
		for _, one := range all {
			if one.id == "" {
				wanted[one.names[level]]++
			}
		}
		for _, one := range all {
			if name := one.names[level]; one.id == "" && wanted[name] == 1 && !taken[name] {
				one.id = name
				taken[name] = true
			}
		}
	}
	numbers := map[string]int{} // the last that a name was given, or a hostile archive would have them counted for ever
	for _, one := range all {
		for name := one.names[2]; one.id == ""; {
			numbers[name]++
			if numbered := fmt.Sprintf("%s#%d", name, numbers[name]); !taken[numbered] {
				one.id = numbered
				taken[numbered] = true
			}
		}
	}
}
