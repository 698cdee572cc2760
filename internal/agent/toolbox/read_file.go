package toolbox

import (
	"bytes"
	"context"
	"fmt"
	"strings"
	"unicode/utf8"

	"github.com/sandloop/sandloop/internal/agent"
	"github.com/sandloop/sandloop/internal/sandbox"
)

const (
	// maxLines bounds the lines of one read, maxReadBytes their size, and maxLineBytes what is shown of one line.
	maxLines     = 2000
	maxReadBytes = 32 << 10
	maxLineBytes = 2000
)

func (t *Toolbox) readFile(ctx context.Context, a readFileArguments, _ func(agent.Progress)) agent.ToolResult {
	files, err := t.files(ctx)
	if err != nil {
		return t.workspaceProblem(ctx, "nothing was read", err)
	}
	name := below(a.Path)
	for _, file := range files {
		if file.Path == name {
			return show(file, max(a.Offset, 1), a.Limit)
		}
	}
	return problemf("there is no file %s%s", visible(name), nearby(name, files))
}

// nearby names the files that somebody may have meant: those of the same folder, or else all.
func nearby(name string, files []sandbox.File) string {
	const most = 10
	var inside, others []string
	for _, file := range files {
		switch {
		case strings.HasPrefix(file.Path, name+"/"):
			inside = append(inside, visible(file.Path))
		default:
			others = append(others, visible(file.Path))
		}
	}
	switch {
	case len(inside) > 0:
		return ": it is a folder, with " + strings.Join(inside[:min(len(inside), most)], ", ")
	case len(others) > most:
		return fmt.Sprintf(", but %d others. Call list_files for their names", len(others))
	case len(others) > 0:
		return ". There are " + strings.Join(others, ", ")
	}
	return ", since the workspace has no files"
}

// show is a file as a result: an image, some lines of a text, or a description.
func show(file sandbox.File, first, count int) agent.ToolResult {
	mime, isImage := imageType(file.Data)
	switch {
	case isImage && len(file.Data) <= maxImageBytes:
		return agent.ToolResult{
			Text:   fmt.Sprintf("[%s is attached: %s, %d bytes]", visible(file.Path), mime, len(file.Data)),
			Images: []agent.Image{{Path: file.Path, MIME: mime, Data: file.Data}},
		}
	case len(file.Data) == 0:
		return agent.ToolResult{Text: fmt.Sprintf("[%s is empty]", visible(file.Path))}
	case isImage || !utf8.Valid(file.Data) || bytes.IndexByte(file.Data, 0) >= 0:
		return agent.ToolResult{Text: fmt.Sprintf("[%s is not shown: it is no text or too large an image (%s, %d bytes). Look at it with code]", visible(file.Path), mime, len(file.Data))}
	}
	return showLines(file, first, count)
}

// showLines shows lines from the first on, whole as far as they are not too long.
func showLines(file sandbox.File, first, count int) agent.ToolResult {
	if count == 0 {
		count = maxLines
	}
	lines := strings.SplitAfter(string(file.Data), "\n")
	if lines[len(lines)-1] == "" {
		lines = lines[:len(lines)-1]
	}
	if first > len(lines) {
		return problemf("%s has %d lines, so there is no line %d. Call again with a smaller offset", visible(file.Path), len(lines), first)
	}
	var text strings.Builder
	last, cut := first-1, 0
	for ; last < len(lines) && last < first-1+count && text.Len() < maxReadBytes; last++ {
		line := lines[last]
		if len(line) > maxLineBytes {
			line = strings.ToValidUTF8(line[:maxLineBytes], "") + "...\n"
			cut++
		}
		text.WriteString(line)
	}
	if first == 1 && last == len(lines) && cut == 0 {
		return agent.ToolResult{Text: text.String()}
	}
	if !strings.HasSuffix(text.String(), "\n") {
		text.WriteByte('\n')
	}
	fmt.Fprintf(&text, "[lines %d to %d of %d of %s", first, last, len(lines), visible(file.Path))
	if last < len(lines) {
		fmt.Fprintf(&text, "; the next begins at offset %d", last+1)
	}
	if cut > 0 {
		fmt.Fprintf(&text, "; %d lines are longer than %d bytes and were cut, read those with code", cut, maxLineBytes)
	}
	text.WriteByte(']')
	return agent.ToolResult{Text: text.String()}
}
