package main

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/sandloop/sandloop/internal/jobs"
	"github.com/sandloop/sandloop/internal/sandbox"
	"github.com/sandloop/sandloop/internal/workspace"
)

// fakeSessions answer every job alike and pass on what they were asked.
type fakeSessions struct {
	asked  chan jobs.SessionJob
	result sandbox.Result
	report *workspace.Report
}

func (f fakeSessions) Run(_ context.Context, job jobs.SessionJob) (sandbox.Result, *workspace.Report, error) {
	f.asked <- job
	return f.result, f.report, nil
}

// setupSessions makes a bench whose worker has sessions.
func setupSessions(t *testing.T, result sandbox.Result, report *workspace.Report) (*bench, chan jobs.SessionJob) {
	t.Helper()
	b := setupWithoutWorker(t)
	sessions := fakeSessions{make(chan jobs.SessionJob, 10), result, report}
	b.serve(t, jobs.WorkerOptions{Runner: &fakeRunner{}, Sessions: sessions})
	return b, sessions.asked
}

func live(report workspace.LiveReport) *workspace.Report {
	return &workspace.Report{Version: 3, Live: &report}
}

func TestRunAndSubmitNameTheSession(t *testing.T) {
	t.Parallel()
	b, asked := setupSessions(t, okay("done\n"), &workspace.Report{Version: 1})
	file := b.file(t, "a.py", "x")
	for _, c := range []struct {
		args []string
		want jobs.Session
	}{
		{[]string{"run", file, "--session", "s"}, jobs.Session{Name: "s"}},
		{[]string{"run", file, "--session", "s", "--live"}, jobs.Session{Name: "s", Live: true}},
		{[]string{"submit", file, "--session", "s", "--live", "--restart"}, jobs.Session{Name: "s", Live: true, Restart: true}},
	} {
		got := b.enqueue(t, append(c.args, "--tenant", "alice")...)
		require.Equal(t, 0, got.code, got.stderr)
		require.Empty(t, got.stderr)
		job := <-asked
		require.Equal(t, c.want, job.Session)
		require.Equal(t, "alice", job.Tenant)
	}
}

func TestFlagsOfASessionThatAreRefused(t *testing.T) {
	t.Parallel()
	b := setupWithoutWorker(t) // a job would wait for ever
	file := b.file(t, "a.py", "x")
	for want, flags := range map[string][]string{
		"--live: there is no --session":                     {"--live"},
		"--restart: there is no --live":                     {"--session", "s", "--restart"},
		`session.name: "a/b": want 1 to 64 letters, digits`: {"--session", "a/b"},
	} {
		for _, command := range []string{"run", "submit"} {
			got := b.enqueue(t, append([]string{command, file}, flags...)...)
			require.Equal(t, exitUsage, got.code)
			require.Contains(t, got.stderr, want)
		}
	}
}

func TestRunShowsWhatALiveSessionShows(t *testing.T) {
	t.Parallel()
	text := func(s string) workspace.Display { return workspace.Display{MIME: "text/plain", Text: s} }
	for name, c := range map[string]struct {
		stdout         string
		report         *workspace.Report
		output, errors string
	}{
		"a value":                      {"", live(workspace.LiveReport{Value: "42"}), "42\n", ""},
		"output, tables and a value":   {"out\n", live(workspace.LiveReport{Value: "42", Displays: []workspace.Display{text("a b\n1 2\n"), text("c")}}), "out\na b\n1 2\nc\n42\n", ""},
		"output that ends in a line":   {"out", live(workspace.LiveReport{Value: "42"}), "out\n42\n", ""},
		"HTML beside the same as text": {"", live(workspace.LiveReport{Displays: []workspace.Display{{MIME: "text/html", Text: "<b>1"}, text("1")}}), "1\n", ""},
		"no value":                     {"out", live(workspace.LiveReport{Started: true}), "out", ""},
		"no live session":              {"out", &workspace.Report{Version: 1}, "out", ""},
		"an interpreter that was lost": {
			"", live(workspace.LiveReport{Started: true, Lost: "nobody called it for 10m"}), "",
			"enqueue: the live interpreter was started anew, variables of earlier calls are gone: nobody called it for 10m\n",
		},
		"an interpreter that has ended": {
			"", live(workspace.LiveReport{Ended: "the code ended it"}), "",
			"enqueue: the live interpreter has ended, the next call starts another one from the files: the code ended it\n",
		},
		"files that are not kept": {
			"", &workspace.Report{Refused: []sandbox.RefusedFile{{Path: "big\n", Reason: "above the quota"}, {Path: "l", Reason: "a link"}}}, "",
			"enqueue: file \"big\\n\" is not kept in the session: above the quota\nenqueue: file \"l\" is not kept in the session: a link\n",
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b, _ := setupSessions(t, okay(c.stdout), c.report)
			got := b.enqueue(t, "run", b.file(t, "a.py", "x"), "--session", "s", "--live")
			require.Equal(t, ran{stdout: c.output, stderr: c.errors}, got)
		})
	}
}

func TestResultShowsALiveSessionToo(t *testing.T) {
	t.Parallel()
	b, _ := setupSessions(t, okay("out\n"), live(workspace.LiveReport{Value: "42", Displays: []workspace.Display{{MIME: "image/png", Path: "figure-1.png"}}}))
	id := strings.TrimSpace(b.enqueue(t, "submit", b.file(t, "a.py", "x"), "--session", "s", "--live").stdout)
	require.Equal(t, 0, b.enqueue(t, "wait", id).code)
	require.Equal(t, ran{
		stdout: "out\n42\n", stderr: "enqueue: figure figure-1.png (image/png) is not written: --out-dir FOLDER writes it\n",
	}, b.enqueue(t, "result", id))
	got := b.enqueue(t, "result", "--json", id)
	require.Equal(t, "42", decode[jobs.Record](t, got.stdout).Session.Live.Value)
	require.Empty(t, got.stderr)
}

func TestFiguresNeverReplaceAFile(t *testing.T) {
	t.Parallel()
	result := okay("")
	for _, name := range []string{"figure-1.png", "figure-2.png", "figure-1-3.png"} {
		result.Files = append(result.Files, sandbox.File{Path: name, Data: sandbox.Bytes(name)})
	}
	b, _ := setupSessions(t, result, live(workspace.LiveReport{Displays: []workspace.Display{
		{MIME: "image/png", Path: "figure-1.png"}, {MIME: "image/png", Path: "figure-2.png"},
	}}))
	out := filepath.Join(b.dir, "out")
	run := func(flags ...string) ran {
		return b.enqueue(t, append([]string{"run", b.file(t, "a.py", "x"), "--session", "s", "--live", "--out-dir", out}, flags...)...)
	}
	read := func(name string) string {
		data, err := os.ReadFile(filepath.Join(out, name))
		require.NoError(t, err)
		return string(data)
	}
	note := func(name string) string { return "enqueue: figure " + filepath.Join(out, name) + " (image/png)\n" }
	require.Equal(t, ran{stderr: note("figure-1.png") + note("figure-2.png")}, run())
	require.NoError(t, os.WriteFile(filepath.Join(out, "figure-1.png"), []byte("mine"), 0o600))
	require.NoError(t, os.WriteFile(filepath.Join(out, "figure-1-2.png"), []byte("mine"), 0o600))
	require.NoError(t, os.Remove(filepath.Join(out, "figure-1-3.png"))) // a file of this name comes back
	require.Equal(t, ran{stderr: note("figure-1-4.png") + note("figure-2-2.png")}, run())
	require.Equal(t, "mine", read("figure-1.png"))
	require.Equal(t, "mine", read("figure-1-2.png"))
	require.Equal(t, "figure-1-3.png", read("figure-1-3.png"))
	require.Equal(t, "figure-1.png", read("figure-1-4.png"))
	require.Equal(t, "figure-2.png", read("figure-2-2.png"))

	require.Equal(t, ran{stderr: note("figure-1.png") + note("figure-2.png")}, run("--force"))
	require.Equal(t, "figure-1.png", read("figure-1.png"))
}
