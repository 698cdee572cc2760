package live

import (
	"errors"
	"fmt"
	"mime"
	"path"
	"strings"
	"time"

	"github.com/sandloop/sandloop/internal/sandbox"
	"github.com/sandloop/sandloop/internal/workspace"
)

// current is the cell that runs, and what came of it so far. Until finished is closed it belongs to the goroutine that
// receives frames.
type current struct {
	id   int
	cell Cell

	stdout, stderr capture
	displays       []workspace.Display
	texts          int // bytes of texts among them
	figures        []sandbox.File
	figureBytes    int64
	withheld       []sandbox.RefusedFile // figures that were too many
	changes        Changes
	changedBytes   int64
	// places are the paths of files that changed, and false for the folders that they lie in.
	places map[string]bool
	// piece is a body of which more comes.
	piece *piece
	// end is the done or gone frame, and value the body of the former.
	end   message
	value string

	// began is closed when its code runs, finished when end is set.
	began, finished chan struct{}
}

// piece is a file or a display of which more comes.
type piece struct {
	message
	data []byte
}

// Bounds on what one cell displays and tells.
const (
	maxTexts    = 1 << 20
	maxDisplays = 1000
	maxFigures  = 100
	maxRefused  = 1000
	// In bytes, for each display and refused file. A path that is longer is none that a session can have.
	maxMIME   = 100
	maxPath   = 1024
	maxReason = 500
)

func newCurrent(id int, cell Cell) *current {
	limit := max(1, cell.Output)
	return &current{
		id: id, cell: cell, stdout: capture{limit: limit}, stderr: capture{limit: limit}, places: map[string]bool{},
		began: make(chan struct{}), finished: make(chan struct{}),
	}
}

// frame takes what the driver says.
func (i *Interpreter) frame(m message, body []byte) error {
	i.mu.Lock()
	c, greeted := i.current, i.greeted
	switch {
	case m.Type == typeHello && !greeted:
		i.greeted = true
	case m.Type == typeGone && (c == nil || m.Cell != c.id):
		if !i.gone { // one that says so and stays must not have the next cell wait for ever
			time.AfterFunc(lastWords, func() { i.end(errSilent) })
		}
		i.gone = true
	}
	i.mu.Unlock()
	switch {
	case m.Type == typeHello && !greeted && m.Version != protocolVersion:
		return fmt.Errorf("%w: it speaks version %d", errProtocol, m.Version)
	case m.Type == typeHello && !greeted:
		close(i.ready)
		return nil
	case m.Type == typeGone && (c == nil || m.Cell != c.id):
		return nil
	case c == nil || c.end.Type != "":
		return fmt.Errorf("%w: %.20q is of no cell", errProtocol, m.Type)
	}
	return c.frame(i.options, m, body)
}

// frame takes what the driver says of this cell.
func (c *current) frame(o Options, m message, body []byte) error {
	if c.piece != nil && (m.Type != c.piece.Type || m.Path != c.piece.Path) {
		return fmt.Errorf("%w: %.20q in the middle of %.20q", errProtocol, m.Type, c.piece.Type)
	}
	switch {
	case m.Type == typeBegan && m.Cell == c.id && !c.hasBegun():
		close(c.began)
	case m.Type == typeOutput && m.Stream == 1:
		c.output(&c.stdout, sandbox.Stdout, body)
	case m.Type == typeOutput && m.Stream == 2:
		c.output(&c.stderr, sandbox.Stderr, body)
	case m.Type == typeDisplay || m.Type == typeChanged:
		return c.part(o, m, body)
	case m.Type == typeDeleted:
		return c.deleted(o, m.Paths)
	case m.Type == typeRefused:
		return c.refused(m.Refused)
	case (m.Type == typeDone || m.Type == typeGone) && m.Cell == c.id:
		c.end, c.value = m, strings.ToValidUTF8(string(body), "\uFFFD")
		close(c.finished)
	default:
		return fmt.Errorf("%w: %.20q is not due", errProtocol, m.Type)
	}
	return nil
}

func (c *current) hasBegun() bool {
	select {
	case <-c.began:
		return true
	default:
		return false
	}
}

func (c *current) output(stream *capture, name sandbox.StreamName, data []byte) {
	kept := stream.write(data)
	if len(kept) > 0 && c.cell.OnOutput != nil {
		c.cell.OnOutput(sandbox.Output{Step: "run", Stream: name, Data: append(sandbox.Bytes(nil), kept...)})
	}
}

// part takes a piece of a file or of a display.
func (c *current) part(o Options, m message, body []byte) error {
	if c.piece == nil {
		c.piece = &piece{message: m}
	}
	limit := o.Quota - c.changedBytes
	if m.Type == typeDisplay {
		limit = max(maxValue, o.FigureBytes)
	}
	if int64(len(c.piece.data)+len(body)) > limit {
		return fmt.Errorf("%w: more bytes than are allowed", errProtocol)
	}
	c.piece.data = append(c.piece.data, body...)
	if m.More {
		return nil
	}
	whole := *c.piece
	c.piece = nil
	if m.Type == typeDisplay {
		return c.display(o, whole.MIME, whole.data)
	}
	return c.changed(o, whole)
}

// display adds a text to the report, or a figure to the files.
func (c *current) display(o Options, kind string, data []byte) error {
	if _, _, err := mime.ParseMediaType(kind); err != nil || len(kind) > maxMIME {
		return fmt.Errorf("%w: %.100q is no media type", errProtocol, kind)
	}
	if strings.HasPrefix(kind, "text/") {
		if c.texts += len(data); c.texts <= maxTexts && len(c.displays) < maxDisplays {
			c.displays = append(c.displays, workspace.Display{MIME: kind, Text: strings.ToValidUTF8(string(data), "\uFFFD")})
		}
		return nil
	}
	name := fmt.Sprintf("figure-%d%s", len(c.figures)+len(c.withheld)+1, extension(kind))
	switch {
	case len(c.withheld) >= maxRefused:
	case len(c.figures) >= maxFigures || c.figureBytes+int64(len(data)) > o.FigureBytes:
		c.withheld = append(c.withheld, sandbox.RefusedFile{
			Path: name, Limit: true, Reason: fmt.Sprintf("a cell may display %d files of %d bytes together", maxFigures, o.FigureBytes),
		})
	default:
		c.figureBytes += int64(len(data))
		c.figures = append(c.figures, sandbox.File{Path: name, Data: data})
		c.displays = append(c.displays, workspace.Display{MIME: kind, Path: name})
	}
	return nil
}

func extension(kind string) string {
	switch kind {
	case "image/png":
		return ".png"
	case "image/jpeg":
		return ".jpg"
	case "image/svg+xml":
		return ".svg"
	}
	return ".bin"
}

func (c *current) changed(o Options, p piece) error {
	if len(c.changes.Written) >= o.MaxFiles {
		return fmt.Errorf("%w: more files than are allowed", errProtocol)
	}
	file := sandbox.File{Path: p.Path, Data: p.data, Executable: p.Executable}
	if err := checkPath(p.Path); err != nil {
		return c.refused([]refusedFile{{Path: p.Path, Reason: err.Error()}})
	}
	if !c.place(p.Path) {
		return fmt.Errorf("%w: %.100q has changed twice or lies in a file", errProtocol, p.Path)
	}
	c.changedBytes += int64(len(p.data))
	c.changes.Written = append(c.changes.Written, file)
	return nil
}

// place notes a file that changed. It is false if no folder can hold it beside those before it.
func (c *current) place(file string) bool {
	if _, taken := c.places[file]; taken {
		return false
	}
	c.places[file] = true
	for folder := path.Dir(file); folder != "."; folder = path.Dir(folder) {
		if c.places[folder] {
			return false
		}
		c.places[folder] = false
	}
	return true
}

func (c *current) deleted(o Options, paths []string) error {
	for _, gone := range paths {
		if checkPath(gone) == nil {
			c.changes.Deleted = append(c.changes.Deleted, gone)
		}
	}
	if len(c.changes.Deleted) > o.MaxFiles {
		return fmt.Errorf("%w: more deleted files than there were", errProtocol)
	}
	return nil
}

func (c *current) refused(files []refusedFile) error {
	if len(c.changes.Refused)+len(files) > maxRefused {
		return fmt.Errorf("%w: more refused files than are told", errProtocol)
	}
	for _, file := range files {
		c.changes.Refused = append(c.changes.Refused, sandbox.RefusedFile{
			Path: atMost(maxPath, file.Path), Reason: atMost(maxReason, file.Reason), Limit: file.Limit,
		})
	}
	return nil
}

// atMost cuts a text, which is UTF-8 and stays so.
func atMost(bytes int, text string) string {
	return strings.Clone(strings.ToValidUTF8(text[:min(bytes, len(text))], "")) // or the rest would be held, too
}

// checkPath accepts what can be a file of a session.
func checkPath(file string) error {
	if ours(file) {
		return errors.New("is not kept")
	}
	return sandbox.CheckFiles([]sandbox.File{{Path: file}})
}
