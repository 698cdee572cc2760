package top

import (
	"errors"
	"strings"
	"testing"
	"time"

	tea "charm.land/bubbletea/v2"
	"github.com/charmbracelet/x/ansi"
	"github.com/stretchr/testify/require"

	"github.com/sandloop/sandloop/internal/jobs"
)

// noon is a moment in the local time that frames show.
var noon = time.Date(2031, 5, 6, 12, 0, 0, 0, time.Local)

func two() *int64 { n := int64(2); return &n }

// installation is one moment of an installation with two workers; taken and finished tell how far it is.
func installation(at time.Time, taken, finished int64) Snapshot {
	return Snapshot{
		At: at,
		Queues: []Queue{
			{QueueStats: jobs.QueueStats{Queue: jobs.Interactive, Taken: 7}},
			{
				QueueStats: jobs.QueueStats{Queue: jobs.Default, Pending: 120, Running: 3, Retry: 1, Dead: 2, OldestSeconds: 75, Taken: taken},
				PerTenant: []jobs.TenantStats{
					{Tenant: "alice", Weight: 1, Waiting: 20, Bytes: 1536, OldestSeconds: 0.5, Running: two()},
					{Tenant: "", Weight: 3, Waiting: 100, Bytes: 5 << 20, OldestSeconds: 75, HeldUntil: at},
				},
			},
			{QueueStats: jobs.QueueStats{Queue: jobs.Batch}, PerTenant: []jobs.TenantStats{{Tenant: "bob", Weight: 1, Waiting: 1, Bytes: 12}}},
		},
		Workers: []Worker{
			{WorkerInfo: jobs.WorkerInfo{ID: "w-1", Host: "east", Slots: 4, InteractiveSlots: 2, Running: 1, Finished: finished, Started: at.Add(-90 * time.Second)}},
			{WorkerInfo: jobs.WorkerInfo{ID: "w-2", Host: "west", Slots: 4, SessionSlots: 8, Running: 3, Finished: 5, Started: at.Add(-25 * time.Hour)}},
		},
	}
}

func TestRatesAreWhatCameSinceTheLastLook(t *testing.T) {
	t.Parallel()
	first := installation(noon, 100, 40)
	require.Nil(t, first.Since(Snapshot{}).Queues[1].TakenPerSecond, "nothing is known of before")
	second := installation(noon.Add(2*time.Second), 125, 41)
	rated := second.Since(first)
	require.InDelta(t, 12.5, *rated.Queues[1].TakenPerSecond, 1e-9)
	require.InDelta(t, 0, *rated.Queues[0].TakenPerSecond, 0)
	require.InDelta(t, 0.5, *rated.Workers[0].FinishedPerSecond, 1e-9)
	require.Nil(t, second.Queues[1].TakenPerSecond, "the snapshot itself stays as it is")
	require.Nil(t, installation(noon, 1, 1).Since(first).Queues[1].TakenPerSecond, "no time has passed")
	require.Nil(t, installation(noon.Add(time.Second), 99, 40).Since(first).Queues[1].TakenPerSecond, "Redis began anew")
	young := installation(noon.Add(time.Second), 100, 40)
	young.Workers[0].ID = "w-0"
	require.Nil(t, young.Since(first).Workers[0].FinishedPerSecond)
}

func TestPlainTextShowsEverything(t *testing.T) {
	t.Parallel()
	shown := installation(noon.Add(2*time.Second), 125, 41).Since(installation(noon, 100, 40))
	require.Equal(t, `sandloop 12:00:02  waiting 120  workers 2  slots 4/18

QUEUE        WAITING  RUNNING  RETRY  DEAD  OLDEST  TAKEN/S
interactive        0        0      0     0       -      0.0
default          120        3      1     2   1m15s     12.5
batch              0        0      0     0       -      0.0

TENANT  QUEUE    WAITING   BYTES  OLDEST  RUNNING  WEIGHT          HELD
-       default      100  5.0MiB   1m15s        -       3  by its quota
alice   default       20  1.5KiB    0.5s        2       1             -
bob     batch          1     12B       -        -       1             -

WORKER  HOST  SLOTS     UP  JOBS/S
w-2     west   3/12  1d01h     0.0
w-1     east    1/6  1m30s     0.5
`, Plain(shown, ByLoad))
	require.Equal(t, []string{"-", "alice", "bob"}, column(Plain(shown, ByName), "TENANT"))
	require.Equal(t, []string{"w-1", "w-2"}, column(Plain(shown, ByName), "WORKER"))
	require.Equal(t, []string{"alice", "-", "bob"}, column(Plain(shown, ByRate), "TENANT"))
	require.Equal(t, []string{"w-1", "w-2"}, column(Plain(shown, ByRate), "WORKER"))
}

// column is the first word of each row below a heading, up to an empty line.
func column(frame, name string) (cells []string) {
	_, below, _ := strings.Cut(frame, name)
	for row := range strings.SplitSeq(below[strings.Index(below, "\n")+1:], "\n") {
		if row == "" {
			return cells
		}
		cells = append(cells, strings.Fields(row)[0])
	}
	return cells
}

func TestAnInstallationWithoutWorkersAndTenantsSaysSo(t *testing.T) {
	t.Parallel()
	frame := Plain(Snapshot{At: noon, Queues: []Queue{{QueueStats: jobs.QueueStats{Queue: jobs.Batch}}}}, ByLoad)
	require.Contains(t, frame, "no worker is running")
	require.NotContains(t, frame, "TENANT")
}

func TestTextFromRedisCannotReachTheTerminal(t *testing.T) {
	t.Parallel()
	hostile := "a\x1b[2J\x1b]0;owned\x07\r\nb\u202e\x9b"
	snapshot := installation(noon, 1, 1)
	snapshot.Queues[0].PerTenant = []jobs.TenantStats{{Tenant: hostile, Waiting: 1}}
	snapshot.Queues[0].Queue = jobs.Queue(hostile)
	snapshot.Workers[0].ID, snapshot.Workers[0].Host = hostile, hostile
	harmless := func(text string) {
		t.Helper()
		require.NotContains(t, text, "\x1b[2J")
		require.NotContains(t, text, "\x1b]")
		require.NotContains(t, text, "\x07")
		require.NotContains(t, text, "\r")
		require.NotContains(t, text, "\u202e")
		require.NotContains(t, text, "\x9b")
		require.Contains(t, text, `a^[[2J^[]0;owned^G\r\nb\u202e\x9b`)
	}
	harmless(Plain(snapshot, ByLoad))
	m := NewModel(nil, time.Second, ByLoad)
	m.queue = jobs.Queue(hostile)
	update(m, reading{snapshot: snapshot}, tea.WindowSizeMsg{Width: 200, Height: 40})
	harmless(m.View().Content)
	update(m, reading{err: errors.New(hostile)})
	require.NotContains(t, m.View().Content, "\x1b[2J")
	require.Contains(t, m.View().Content, `a^[[2J^[]0;owned^G\r`)
}

// update gives a model one message after the other and returns what it wants done after the last.
func update(m *Model, messages ...tea.Msg) (cmd tea.Cmd) {
	for _, msg := range messages {
		_, cmd = m.Update(msg)
	}
	return cmd
}

func press(text string) tea.Msg { return tea.KeyPressMsg{Code: []rune(text)[0], Text: text} }

func TestKeysSelectQueuesSortAndQuit(t *testing.T) {
	t.Parallel()
	up, down := tea.KeyPressMsg{Code: tea.KeyUp}, tea.KeyPressMsg{Code: tea.KeyDown}
	m := NewModel(nil, time.Second, ByLoad)
	require.Nil(t, update(m, down), "before anything is known")
	update(m, reading{snapshot: installation(noon, 1, 1)})
	for _, step := range []struct {
		key  tea.Msg
		want jobs.Queue
	}{
		{down, jobs.Default}, {press("j"), jobs.Batch}, {down, jobs.Batch}, {up, jobs.Default}, {press("k"), jobs.Interactive}, {up, jobs.Interactive},
	} {
		update(m, step.key)
		require.Equal(t, step.want, m.queue)
	}
	require.NotContains(t, m.View().Content, "alice")
	update(m, down)
	require.Contains(t, m.View().Content, "alice")
	require.Contains(t, m.View().Content, "\x1b[7mdefault ", "the selected queue is marked")
	require.NotContains(t, m.View().Content, "bob", "of another queue")
	for _, want := range []Sort{ByName, ByRate, ByLoad} {
		update(m, press("s"))
		require.Contains(t, m.View().Content, "sort: "+string(want))
	}
	require.True(t, m.View().AltScreen)
	for _, key := range []tea.Msg{press("q"), tea.KeyPressMsg{Code: tea.KeyEscape}, tea.KeyPressMsg{Code: 'c', Mod: tea.ModCtrl}} {
		quit := update(NewModel(nil, time.Second, ByLoad), key)
		require.NotNil(t, quit)
		require.Equal(t, tea.QuitMsg{}, quit())
	}
}

func TestAnOutageIsSaidAndTheLastFiguresStay(t *testing.T) {
	t.Parallel()
	fails := errors.New("dial tcp: connection refused\nand more")
	var next reading
	m := NewModel(func() (Snapshot, error) { return next.snapshot, next.err }, time.Millisecond, ByLoad)
	look := func() tea.Msg { t.Helper(); return m.Init()() }
	next.err = fails
	again := update(m, look())
	require.Contains(t, m.View().Content, "Redis does not answer, trying again: dial tcp: connection refused")
	require.NotContains(t, m.View().Content, "no worker", "since nothing is known")
	require.Contains(t, m.View().Content, "q quit")
	require.Equal(t, due{}, again(), "and it is tried again")
	require.NotNil(t, update(m, due{}))

	next = reading{snapshot: installation(noon, 100, 1)}
	update(m, look())
	require.NotContains(t, m.View().Content, "Redis")
	next = reading{err: fails}
	update(m, look())
	require.Contains(t, m.View().Content, "Redis does not answer")
	require.Contains(t, m.View().Content, "12:00:00")
	require.Contains(t, m.View().Content, "120", "what was known")
	next = reading{snapshot: installation(noon.Add(10*time.Second), 110, 1)}
	update(m, look())
	require.NotContains(t, m.View().Content, "Redis")
	require.NotNil(t, m.shown.Queues[1].TakenPerSecond)
	require.InDelta(t, 1, *m.shown.Queues[1].TakenPerSecond, 1e-9, "over the whole outage")
}

func TestTheViewFitsItsTerminal(t *testing.T) {
	t.Parallel()
	snapshot := installation(noon, 1, 1)
	for i := range 60 {
		snapshot.Queues[0].PerTenant = append(snapshot.Queues[0].PerTenant, jobs.TenantStats{Tenant: strings.Repeat("長", i+1), Waiting: 1})
		snapshot.Workers = append(snapshot.Workers, Worker{WorkerInfo: jobs.WorkerInfo{ID: strings.Repeat("w", i+1), Slots: 1}})
	}
	m := NewModel(nil, time.Second, ByLoad)
	for _, problem := range []error{nil, errors.New("connection refused")} {
		for _, size := range []tea.WindowSizeMsg{{Width: 80, Height: 24}, {Width: 200, Height: 150}, {Width: 20, Height: 10}, {Width: 1, Height: 1}, {}} {
			update(m, reading{snapshot: snapshot}, reading{err: problem, snapshot: snapshot}, size)
			rows := strings.Split(m.View().Content, "\n")
			require.LessOrEqual(t, len(rows), max(size.Height, 1), "%v", size)
			for _, row := range rows {
				require.LessOrEqual(t, ansi.StringWidth(row), size.Width, "%v: %q", size, row)
			}
		}
	}
	update(m, reading{snapshot: snapshot}, tea.WindowSizeMsg{Width: 80, Height: 24})
	lines := strings.Split(m.View().Content, "\n")
	require.Len(t, lines, 24)
	require.Contains(t, lines[23], "q quit")
	require.Contains(t, m.View().Content, "… and 55 more", "of the 60 tenants")
	require.Contains(t, m.View().Content, "… and 57 more", "of the 62 workers")
}

func TestFiguresAreShort(t *testing.T) {
	t.Parallel()
	for d, want := range map[time.Duration]string{
		0: "-", -1: "-", 1200 * time.Millisecond: "1.2s", time.Minute: "1m00s", 3599 * time.Second: "59m59s", 90 * time.Minute: "1h30m", 49 * time.Hour: "2d01h",
	} {
		require.Equal(t, want, age(d))
	}
	for bytes, want := range map[int64]string{0: "0B", 1023: "1023B", 1024: "1.0KiB", 1536: "1.5KiB", 5 << 20: "5.0MiB", 3 << 30: "3.0GiB", 1 << 41: "2.0TiB", 1 << 52: "4096.0TiB"} {
		require.Equal(t, want, size(bytes))
	}
	_, err := ParseSort("age")
	require.EqualError(t, err, `sort: "age" is unknown: want load, name or rate`)
}
