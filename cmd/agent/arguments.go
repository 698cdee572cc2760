package main

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/sandloop/sandloop/internal/agent"
	"github.com/sandloop/sandloop/internal/cli"
)

// The bounds of what is shown of arguments: lines of code before and after the cut, characters of a line
// of code, and of an argument beside the name of the tool.
const (
	headLines, tailLines = 20, 8
	lineWidth            = 160
	argumentWidth        = 60
)

// blockArguments are arguments that are shown as lines of their own, the first of them that there is.
var blockArguments = []string{"code", "content"}

// describe returns what stands beside the name of a tool that is called, and the lines below it. Both can be shown
// on a terminal.
func describe(call agent.ToolCall) (beside string, block []string) {
	var arguments map[string]json.RawMessage
	if err := json.Unmarshal([]byte(call.Arguments), &arguments); err != nil {
		return clip(cli.Printable(call.Arguments), argumentWidth), nil
	}
	for _, name := range blockArguments {
		var text string
		if raw, there := arguments[name]; there && json.Unmarshal(raw, &text) == nil {
			block = excerpt(text)
			delete(arguments, name)
			break
		}
	}
	var words []string
	for _, name := range slices.Sorted(maps.Keys(arguments)) {
		words = append(words, cli.Printable(name)+"="+argument(arguments[name]))
	}
	return strings.Join(words, " "), block
}

// argument writes a value in short: words as they are, all else as JSON.
func argument(raw json.RawMessage) string {
	var word string
	if json.Unmarshal(raw, &word) == nil && word != "" && !strings.ContainsAny(word, " \t\r\n\"") {
		return clip(cli.Printable(word), argumentWidth)
	}
	return clip(cli.Printable(string(raw)), argumentWidth)
}

// excerpt returns the first and the last lines of a text, with a line between that counts those left out.
func excerpt(text string) []string {
	text = strings.TrimRight(strings.ReplaceAll(text, "\r\n", "\n"), "\n")
	if text == "" {
		return nil
	}
	all := strings.Split(text, "\n")
	shown := make([]string, 0, min(len(all), headLines+tailLines+1))
	for i, line := range all {
		left := len(all) - headLines - tailLines
		switch {
		case left <= 1 || i < headLines || i >= len(all)-tailLines: // one line is not worth a line that says so
			shown = append(shown, clip(visibleLine(line), lineWidth))
		case i == headLines:
			shown = append(shown, fmt.Sprintf("... %d more lines ...", left))
		}
	}
	return shown
}

// visibleLine is cli.Printable that keeps indentation by tabs.
func visibleLine(line string) string {
	return cli.Printable(strings.ReplaceAll(line, "\t", "    "))
}

// clip shortens a line to so many characters and says how many are missing.
func clip(line string, width int) string {
	count := utf8.RuneCountInString(line)
	if count <= width {
		return line
	}
	return string([]rune(line)[:width]) + fmt.Sprintf("... (+%d characters)", count-width)
}
