package main

import (
	"bytes"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/sandloop/sandloop/internal/agent"
	"github.com/sandloop/sandloop/internal/sandbox"
)

// start is when the runs of these tests begin.
var start = time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)

// show plays events to a view whose two outputs are one, as on a terminal, and returns what is on it. Time passes
// by a quarter of a second from event to event.
func show(t *testing.T, terminal bool, events ...agent.Event) string {
	t.Helper()
	var both bytes.Buffer
	v := newView(&both, &both, func(string) string { return "" })
	v.screen.palette.on = terminal
	for i, e := range events {
		e.Time = start.Add(time.Duration(i) * 250 * time.Millisecond)
		require.NoError(t, v.hear(e))
	}
	v.close()
	return both.String()
}

func called(id, tool, arguments string) *agent.ToolCall {
	return &agent.ToolCall{ID: id, Name: tool, Arguments: arguments}
}

func turnDone(calls ...*agent.ToolCall) agent.Event {
	message := agent.Message{Role: agent.RoleAssistant}
	for _, call := range calls {
		message.Calls = append(message.Calls, *call)
	}
	return agent.Event{Kind: agent.EventTurnDone, Transcript: &agent.Transcript{Messages: []agent.Message{message}}}
}

func text(piece string) agent.Event { return agent.Event{Kind: agent.EventText, Text: piece} }

func began(call *agent.ToolCall) agent.Event { return agent.Event{Kind: agent.EventCall, Call: call} }

func state(call *agent.ToolCall, word string) agent.Event {
	return agent.Event{Kind: agent.EventProgress, Call: call, Progress: &agent.Progress{State: word}}
}

func wrote(call *agent.ToolCall, stream sandbox.StreamName, data string) agent.Event {
	return agent.Event{Kind: agent.EventProgress, Call: call, Progress: &agent.Progress{
		Output: &sandbox.Output{Step: "run", Stream: stream, Data: sandbox.Bytes(data)},
	}}
}

func ended(call *agent.ToolCall, result agent.ToolResult) agent.Event {
	return agent.Event{Kind: agent.EventResult, Call: call, Result: &result}
}

func TestACallIsShownWithCodeStateOutputAndVerdict(t *testing.T) {
	t.Parallel()
	call := called("1", "run_code", `{"language":"python","code":"import sys\nfor n in 1, 2:\n\tprint(n)\n","timeout":5}`)
	got := show(t, false,
		agent.Event{Kind: agent.EventTurn}, text("I will "), text("count."), turnDone(call),
		began(call), state(call, "queued"), state(call, "running"),
		wrote(call, sandbox.Stdout, "1\n2"), wrote(call, sandbox.Stdout, "0\n"), wrote(call, sandbox.Stderr, "oh\nno"),
		ended(call, agent.ToolResult{
			Text:     "1\n20\n[stderr]\noh\nno\n[exit code 3]\n[the disk was full. Write less]",
			Images:   []agent.Image{{Path: "figure-1.png", Data: make([]byte, 20480)}},
			Duration: 1234 * time.Millisecond, JobID: "j1",
		}),
	)
	require.Equal(t, strings.Join([]string{
		"I will count.",
		"> run_code language=python timeout=5",
		"    import sys",
		"    for n in 1, 2:",
		"        print(n)",
		"  queued after 0.25 s",
		"  running after 0.50 s",
		"  | 1",
		"  | 20",
		"  ! oh",
		"  ! no",
		"  [the disk was full. Write less]",
		"  + figure-1.png 20.0 KiB",
		"  = exit code 3 in 1.23 s, job j1",
		"",
	}, "\n"), got)
}

func TestCallsSideBySideAreToldApartByNumbers(t *testing.T) {
	t.Parallel()
	a, b := called("a", "run_code", `{"code":"a"}`), called("b", "list_files", `{}`)
	got := show(t, false, turnDone(a, b), began(a), began(b),
		wrote(a, sandbox.Stdout, "half "), state(b, "running"), wrote(a, sandbox.Stdout, "line\nnext"),
		ended(b, agent.ToolResult{Text: "x.py\ny.py", Duration: time.Second}), ended(a, agent.ToolResult{Text: "half line\nnext", Duration: 65 * time.Second}),
	)
	require.Equal(t, strings.Join([]string{
		"[1] > run_code",
		"[1]     a",
		"[2] > list_files",
		"[1]   | half ",
		"[2]   running after 0.50 s",
		"[1]   | line",
		"[1]   | next",
		"[2]   | x.py",
		"[2]   | y.py",
		"[2]   = ok in 1.00 s",
		"[1]   = ok in 1m5s",
		"",
	}, "\n"), got)
}

func TestWhatALiveInterpreterShowsBesideItsOutput(t *testing.T) {
	t.Parallel()
	call := called("1", "run_code", `{"code":"x"}`)
	got := show(t, false, turnDone(call), began(call), wrote(call, sandbox.Stdout, "out\n"),
		ended(call, agent.ToolResult{Text: "out\n[value]\n7\n[files written: a.csv]"}))
	require.Equal(t, "> run_code\n    x\n  | out\n  | [value]\n  | 7\n  [files written: a.csv]\n  = ok in 0.00 s\n", got)
}

func TestAFailureThatIsNotTheProgramsIsSaid(t *testing.T) {
	t.Parallel()
	call := called("1", "run_cod", `not JSON`)
	got := show(t, false, turnDone(call), began(call), ended(call, agent.ToolResult{IsError: true, Text: `There is no tool "run_cod".`}))
	require.Equal(t, "> run_cod not JSON\n  | There is no tool \"run_cod\".\n  = failed in 0.00 s\n", got)
}

func TestNothingThatIsShownIsObeyed(t *testing.T) {
	t.Parallel()
	const evil = "\x1b]0;owned\x07\x1b[2J\u202e\x9b"
	call := called("1", "run"+evil, `{"code":"print('`+`\u001b[2J\u202e`+`')","x`+`\u001b`+`":"y\u001b"}`)
	got := show(t, false, text(evil), turnDone(call), began(call), state(call, evil), wrote(call, sandbox.Stdout, evil+"\n"), wrote(call, sandbox.Stderr, evil),
		ended(call, agent.ToolResult{Text: evil + "\n[" + evil + "]", JobID: evil, Images: []agent.Image{{Path: evil}}}),
		agent.Event{Kind: agent.EventRetry, Text: evil})
	require.NotContains(t, got, "\x1b")
	require.NotContains(t, got, "\u202e")
	require.NotContains(t, got, "\x07")
	require.Contains(t, got, `  | ^[]0;owned^G^[[2J\u202e\x9b`+"\n")
	require.Contains(t, got, `    print('^[[2J\u202e')`+"\n")
}

func TestACarriageReturnDoesNotReachTheMarkOfALine(t *testing.T) {
	t.Parallel()
	call := called("1", "t", `{}`)
	events := []agent.Event{
		turnDone(call), began(call), wrote(call, sandbox.Stdout, "10%\r"), wrote(call, sandbox.Stdout, "20%\r\nfirst\rsecond\n"), ended(call, agent.ToolResult{}),
	}
	require.Equal(t, "> t\n  | 10%\n  | 20%\n  | first\n  | second\n  = ok in 0.00 s\n", show(t, false, events...))
	require.Contains(t, show(t, true, events...), "10%\r\x1b[K\x1b[2m  | \x1b[0m20%\n")
}

func TestACharacterInPiecesIsOne(t *testing.T) {
	t.Parallel()
	call := called("1", "t", `{}`)
	got := show(t, false, turnDone(call), began(call), wrote(call, sandbox.Stdout, "\xe2\x82"), wrote(call, sandbox.Stdout, "\xac\xe2"), ended(call, agent.ToolResult{}))
	require.Contains(t, got, "  | €\\xe2\n")
}

func TestATerminalHasColoursAndAStatusLine(t *testing.T) {
	t.Parallel()
	var both bytes.Buffer
	v := newView(&both, &both, func(string) string { return "" })
	defer v.close()
	v.screen.palette.on = true
	call := called("1", "t", `{}`)
	hear := func(e agent.Event) string {
		both.Reset()
		e.Time = start
		require.NoError(t, v.hear(e))
		return both.String()
	}
	tick := func(after time.Duration) string {
		both.Reset()
		v.screen.status(v.status(start.Add(after)))
		return both.String()
	}
	require.Empty(t, hear(agent.Event{Kind: agent.EventTurn}))
	require.Equal(t, "\x1b[2mwaiting for the model 0.40 s\x1b[0m", tick(400*time.Millisecond))
	require.Equal(t, "\r\x1b[K\x1b[2mwaiting for the model 61m0s\x1b[0m", strings.ReplaceAll(tick(time.Hour+time.Minute), "1h1m0s", "61m0s"))
	require.Equal(t, "\r\x1b[KHm", hear(text("Hm")))
	require.Empty(t, tick(time.Second), "no status line in the middle of text")
	require.Equal(t, "\n", hear(turnDone(call)))
	require.Equal(t, "\x1b[1m> t\x1b[0m\n", hear(began(call)))
	require.Empty(t, hear(state(call, "running")), "the status line tells")
	require.Equal(t, "\x1b[2m  t running 2.00 s\x1b[0m", tick(2*time.Second))
	require.Equal(t, "\r\x1b[K\x1b[2m  ! \x1b[0m\x1b[31moh\x1b[0m", hear(wrote(call, sandbox.Stderr, "oh")))
	require.Empty(t, tick(3*time.Second))
	require.Equal(t, "\n\x1b[32m  = ok\x1b[0m \x1b[2min 0.00 s\x1b[0m\n", hear(ended(call, agent.ToolResult{})))
	require.Empty(t, tick(4*time.Second), "nothing goes on")
	hear(began(called("2", strings.Repeat("x", 100), `{}`)))
	require.Equal(t, "\x1b[2m  "+strings.Repeat("x", 77)+"\x1b[0m", tick(5*time.Second), "one character less than the terminal has")
}

func TestColoursAreForTerminalsThatWantThem(t *testing.T) {
	t.Parallel()
	require.False(t, newPalette(&bytes.Buffer{}, func(string) string { return "" }).on)
}

func TestAnAnswerThatWasCutIsAskedForAgain(t *testing.T) {
	t.Parallel()
	got := show(t, false, text("half an"), agent.Event{Kind: agent.EventRetry, Text: "model provider: overloaded", Wait: 2 * time.Second}, text("whole\n"), turnDone())
	require.Equal(t, "half an\nagent: model provider: overloaded; asking again in 2.00 s\nwhole\n", got)
}

func TestLongCodeIsCutInTheMiddle(t *testing.T) {
	t.Parallel()
	var code []string
	for range 40 {
		code = append(code, "x")
	}
	require.Equal(t, []string{"a", "b"}, excerpt("a\r\nb\n\n"))
	require.Empty(t, excerpt(""))
	require.Len(t, excerpt(strings.Join(code[:29], "\n")), 29, "the line that says so would be as long")
	got := excerpt(strings.Join(code, "\n"))
	require.Len(t, got, 29)
	require.Equal(t, "... 12 more lines ...", got[20])
	require.Equal(t, []string{strings.Repeat("é", 160) + "... (+40 characters)"}, excerpt(strings.Repeat("é", 200)))
}

func TestArgumentsAreShownInShort(t *testing.T) {
	t.Parallel()
	for arguments, want := range map[string]string{
		`{"path":"a.txt","n":5,"all":true}`:       "all=true n=5 path=a.txt",
		`{"argv":["ls","-l"],"s":"two words"}`:    `argv=["ls","-l"] s="two words"`,
		`{"s":"","x":null,"o":{"a":1}}`:           `o={"a":1} s="" x=null`,
		`{"s":"` + strings.Repeat("x", 70) + `"}`: "s=" + strings.Repeat("x", 60) + "... (+10 characters)",
		`{"code":5}`: "code=5",
		"[1,\n2]":    `[1,\n2]`,
		``:           "",
	} {
		beside, block := describe(agent.ToolCall{Arguments: arguments})
		require.Equal(t, want, beside)
		require.Empty(t, block)
	}
}
