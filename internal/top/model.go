package top

import (
	"slices"
	"strings"
	"time"

	tea "charm.land/bubbletea/v2"

	"github.com/sandloop/sandloop/internal/jobs"
)

// Model is the state of the live view, for bubbletea.
type Model struct {
	read  func() (Snapshot, error)
	every time.Duration

	shown    Snapshot // with rates
	problem  string   // why the last reading failed
	queue    jobs.Queue
	sort     Sort
	width    int
	height   int
	finished bool
}

// NewModel makes a view that is read anew so often. read is called from one goroutine at a time and must bound its own time.
func NewModel(read func() (Snapshot, error), every time.Duration, sort Sort) *Model {
	return &Model{read: read, every: every, sort: sort, queue: jobs.Queues()[0], width: 80, height: 24}
}

// reading is what came of a look at Redis.
type reading struct {
	snapshot Snapshot
	err      error
}

// due says that it is time for the next look.
type due struct{}

// Init begins with a look at Redis.
func (m *Model) Init() tea.Cmd { return m.look }

func (m *Model) look() tea.Msg {
	snapshot, err := m.read()
	return reading{snapshot, err}
}

// Update takes in a key, a size or a reading.
func (m *Model) Update(msg tea.Msg) (tea.Model, tea.Cmd) {
	switch msg := msg.(type) {
	case reading:
		m.take(msg)
		return m, tea.Tick(m.every, func(time.Time) tea.Msg { return due{} })
	case due:
		return m, m.look
	case tea.WindowSizeMsg:
		m.width, m.height = msg.Width, msg.Height
	case tea.KeyPressMsg:
		return m, m.press(msg.String())
	}
	return m, nil
}

// take shows a reading, or says why there is none and leaves what was there.
func (m *Model) take(read reading) {
	if read.err != nil {
		m.problem, _, _ = strings.Cut(read.err.Error(), "\n")
		return
	}
	m.problem = ""
	m.shown = read.snapshot.Since(m.shown)
}

func (m *Model) press(key string) tea.Cmd {
	switch key {
	case "q", "esc", "ctrl+c":
		m.finished = true
		return tea.Quit
	case "up", "k":
		m.step(-1)
	case "down", "j":
		m.step(1)
	case "s":
		sorts := Sorts()
		m.sort = sorts[(slices.Index(sorts, m.sort)+1)%len(sorts)]
	}
	return nil
}

// step selects the next queue, and stays within them.
func (m *Model) step(by int) {
	if at := m.selection(); at >= 0 {
		m.queue = m.shown.Queues[min(max(at+by, 0), len(m.shown.Queues)-1)].Queue
	}
}

// selection is the place of the selected queue, -1 when nothing is known of it.
func (m *Model) selection() int {
	return slices.IndexFunc(m.shown.Queues, func(q Queue) bool { return q.Queue == m.queue })
}

// View shows what is known.
func (m *Model) View() tea.View {
	if m.finished {
		return tea.NewView("")
	}
	lines := screen(m, m.width, m.height)
	texts := make([]string, len(lines))
	for i, line := range lines {
		texts[i] = styled(line)
	}
	view := tea.NewView(strings.Join(texts, "\n"))
	view.AltScreen = true
	view.WindowTitle = "sandloop"
	return view
}

// styled marks a line in a way that every terminal knows.
func styled(l line) string {
	switch l.style {
	case heading:
		return "\x1b[1m" + l.text + "\x1b[0m"
	case selected:
		return "\x1b[7m" + l.text + "\x1b[0m"
	case warning:
		return "\x1b[1;33m" + l.text + "\x1b[0m"
	}
	return l.text
}
