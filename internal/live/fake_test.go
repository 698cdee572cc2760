package live_test

import (
	"context"
	"encoding/binary"
	"encoding/json"
	"errors"
	"io"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/sandloop/sandloop/internal/live"
	"github.com/sandloop/sandloop/internal/sandbox"
)

// driver is a driver that is not ours, as a forger would have it. It is called in the runner's goroutine and returns
// when it ends.
type driver func(ctx context.Context, w wire)

// wire is the driver's end of the talk.
type wire struct {
	in  io.Reader
	out io.Writer
}

// say sends a frame.
func (w wire) say(header string, body ...string) {
	whole := strings.Join(body, "")
	frame := binary.BigEndian.AppendUint32(nil, uint32(len(header)))
	frame = binary.BigEndian.AppendUint32(frame, uint32(len(whole)))
	_, _ = w.out.Write([]byte(string(frame) + header + whole))
}

// hear returns the next frame's header, nil at the end.
func (w wire) hear() map[string]any {
	var prefix [8]byte
	if _, err := io.ReadFull(w.in, prefix[:]); err != nil {
		return nil
	}
	frame := make([]byte, binary.BigEndian.Uint32(prefix[:])+binary.BigEndian.Uint32(prefix[4:]))
	if _, err := io.ReadFull(w.in, frame); err != nil {
		return nil
	}
	var header map[string]any
	if json.Unmarshal(frame[:binary.BigEndian.Uint32(prefix[:])], &header) != nil {
		return nil
	}
	return header
}

// fakeRunner runs a driver as its one test.
type fakeRunner struct {
	driver driver
	ended  sandbox.TestResult
	err    error
}

func (f fakeRunner) RunTests(
	ctx context.Context, program sandbox.Program, next func(*sandbox.TestResult) (sandbox.Test, bool),
) (sandbox.Result, error) {
	test, _ := next(nil)
	program.OnStart(sandbox.Enforcement{KernelView: sandbox.KernelView{MemoryBytes: 64 << 20}})
	f.driver(ctx, wire{test.Talk.Input, test.Talk.Output})
	if f.err != nil {
		return sandbox.Result{}, f.err
	}
	if ctx.Err() != nil {
		return sandbox.Result{}, context.Cause(ctx)
	}
	next(&f.ended)
	return sandbox.Result{Outcome: sandbox.OutcomeOK}, nil
}

const hello = `{"t":"hello","version":1}`

func options() live.Options {
	return live.Options{Program: sandbox.Program{Language: "python"}, Hold: time.Hour, Quota: 1000, MaxFiles: 3}
}

func anyCell() live.Cell {
	return live.Cell{Name: "cell 1", WallTime: time.Minute, Output: 100}
}

func TestADriverIsNotBelieved(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("x", 70_000)
	for name, frames := range map[string][]string{
		"no JSON":                   {"{"},
		"a type of no frame":        {`{"t":"what"}`},
		"hello again":               {hello},
		"another cell is done":      {`{"t":"done","cell":7,"status":"ok"}`},
		"a stream of no number":     {`{"t":"out","stream":3}`},
		"a header too long":         {`{"t":"out","x":"` + long + `"}`},
		"more than the quota":       {`{"t":"changed","path":"a"}` + "\n" + strings.Repeat("x", 1001)},
		"pieces over the quota":     {`{"t":"changed","path":"a","more":true}` + "\n" + strings.Repeat("x", 600), `{"t":"changed","path":"a"}` + "\n" + strings.Repeat("x", 600)},
		"files over the quota":      {`{"t":"changed","path":"a"}` + "\n" + strings.Repeat("x", 600), `{"t":"changed","path":"b"}` + "\n" + strings.Repeat("x", 600)},
		"too many files":            {`{"t":"changed","path":"a"}`, `{"t":"changed","path":"b"}`, `{"t":"changed","path":"c"}`, `{"t":"changed","path":"d"}`},
		"too many deleted":          {`{"t":"deleted","paths":["a","b","c","d"]}`},
		"a piece of another":        {`{"t":"changed","path":"a","more":true}`, `{"t":"changed","path":"b"}`},
		"output between pieces":     {`{"t":"changed","path":"a","more":true}`, `{"t":"out","stream":1}`},
		"a media type that is none": {`{"t":"display","mime":"what?!"}`},
		"a media type that is long": {`{"t":"display","mime":"text/` + strings.Repeat("x", 96) + `"}`},
		"a number that is text":     {`{"t":"done","cell":"1"}`},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			i, err := live.Start(t.Context(), fakeRunner{driver: func(ctx context.Context, w wire) {
				w.say(hello)
				w.hear()
				w.say(`{"t":"out","stream":1}`, "before")
				for _, frame := range frames {
					header, body, _ := strings.Cut(frame, "\n")
					w.say(header, body)
				}
				<-ctx.Done()
			}}, options())
			require.NoError(t, err)
			outcome, err := i.Run(t.Context(), anyCell())
			require.NoError(t, err)
			require.Equal(t, sandbox.OutcomeSignaled, outcome.Result.Outcome)
			require.Equal(t, 137, outcome.Result.ExitCode)
			require.Contains(t, outcome.Report.Ended, "it broke the protocol")
			require.Equal(t, "before", string(outcome.Result.Stdout.Data))
			require.False(t, outcome.Result.Collected)
			<-i.Done()
		})
	}
}

func TestWhatADriverMayClaim(t *testing.T) {
	t.Parallel()
	i, err := live.Start(t.Context(), fakeRunner{driver: func(ctx context.Context, w wire) {
		w.say(hello)
		w.hear()
		for _, path := range []string{"../x", "/x", ".sandloop/x", ".sandloop-out", "a\x00b", "a//b", ""} {
			header, _ := json.Marshal(map[string]any{"t": "changed", "path": path})
			if path == "../x" || path == "/x" || path == ".sandloop/x" { // within the number
				w.say(string(header), "x")
			}
			deleted, _ := json.Marshal(map[string]any{"t": "deleted", "paths": []string{path}})
			w.say(string(deleted))
		}
		w.say(`{"t":"done","cell":1,"status":"ok","wall":-5,"user":1e300,"system":-1,"peak":-1,"oom":0}`, "value\xff")
		<-ctx.Done()
	}}, options())
	require.NoError(t, err)
	outcome, err := i.Run(t.Context(), anyCell())
	require.NoError(t, err)
	require.Equal(t, sandbox.OutcomeOK, outcome.Result.Outcome)
	require.Empty(t, outcome.Changes.Written)
	require.Empty(t, outcome.Changes.Deleted)
	require.Len(t, outcome.Changes.Refused, 3)
	require.Equal(t, "value\uFFFD", outcome.Report.Value)
	require.GreaterOrEqual(t, outcome.Result.Duration, sandbox.Seconds(0))
	require.LessOrEqual(t, outcome.Result.CPUUser, sandbox.Seconds(1e6*time.Second))
	i.Close()
	require.Equal(t, "it was closed", i.Reason())
}

func TestWhatIsToldOfARefusedFileIsShort(t *testing.T) {
	t.Parallel()
	i, err := live.Start(t.Context(), fakeRunner{driver: func(ctx context.Context, w wire) {
		w.say(hello)
		w.hear()
		long, odd := strings.Repeat("x", 20_000), strings.Repeat("\u00e4\u20ac", 1000) // of two bytes and of three
		w.say(`{"t":"refused","refused":[{"path":"` + long + `","reason":"` + long + `","limit":true},{"path":"` + odd + `","reason":"` + odd + `"}]}`)
		w.say(`{"t":"changed","path":"/` + long + `"}`)
		w.say(`{"t":"display","mime":"text/` + strings.Repeat("x", 95) + `"}`)
		w.say(`{"t":"done","cell":1,"status":"ok"}`)
		<-ctx.Done()
	}}, options())
	require.NoError(t, err)
	defer i.Close()
	outcome, err := i.Run(t.Context(), anyCell())
	require.NoError(t, err)
	refused := outcome.Changes.Refused
	require.Len(t, refused, 3)
	require.Equal(t, sandbox.RefusedFile{Path: strings.Repeat("x", 1024), Reason: strings.Repeat("x", 500), Limit: true}, refused[0])
	// 1024 = 204 * 5 + 2 + 2 and 500 = 100 * 5
	require.Equal(t, sandbox.RefusedFile{Path: strings.Repeat("\u00e4\u20ac", 204) + "\u00e4", Reason: strings.Repeat("\u00e4\u20ac", 100)}, refused[1])
	require.Equal(t, sandbox.RefusedFile{Path: "/" + strings.Repeat("x", 1023), Reason: "files[0].path: is 20001 bytes long: want at most 1024"}, refused[2])
	require.Len(t, outcome.Report.Displays, 1)
}

func TestFramesComeInAnyPieces(t *testing.T) {
	t.Parallel()
	i, err := live.Start(t.Context(), fakeRunner{driver: func(ctx context.Context, w wire) {
		byByte := wire{w.in, singly{w.out}}
		byByte.say(hello)
		w.hear()
		byByte.say(`{"t":"out","stream":2}`, "oops")
		byByte.say(`{"t":"changed","path":"a","more":true}`, "x")
		byByte.say(`{"t":"changed","path":"a"}`, "y")
		byByte.say(`{"t":"done","cell":1,"status":"error"}`)
		<-ctx.Done()
	}}, options())
	require.NoError(t, err)
	defer i.Close()
	outcome, err := i.Run(t.Context(), anyCell())
	require.NoError(t, err)
	require.Equal(t, "oops", string(outcome.Result.Stderr.Data))
	require.Equal(t, []sandbox.File{text("a", "xy")}, outcome.Changes.Written)
	require.Equal(t, 1, outcome.Result.ExitCode)
}

// singly writes one byte after the other.
type singly struct{ io.Writer }

func (s singly) Write(data []byte) (int, error) {
	for i := range data {
		if _, err := s.Writer.Write(data[i : i+1]); err != nil {
			return i, err
		}
	}
	return len(data), nil
}

func TestTroubleOfOurOwnIsAnError(t *testing.T) {
	t.Parallel()
	lost := errors.New("no daemon")
	_, err := live.Start(t.Context(), fakeRunner{driver: func(context.Context, wire) {}, err: lost}, options())
	require.ErrorIs(t, err, lost)
	var rejected *live.RejectedError
	require.NotErrorAs(t, err, &rejected)

	_, err = live.Start(t.Context(), fakeRunner{driver: func(context.Context, wire) { panic("oh") }}, options())
	require.ErrorContains(t, err, "runner panicked: oh")

	_, err = live.Start(t.Context(), fakeRunner{driver: func(ctx context.Context, w wire) {
		w.say(`{"t":"hello","version":2}`)
		<-ctx.Done()
	}}, options())
	require.ErrorContains(t, err, "it speaks version 2")

	i, err := live.Start(t.Context(), fakeRunner{driver: func(_ context.Context, w wire) {
		w.say(hello)
		w.hear()
	}, err: lost}, options())
	require.NoError(t, err)
	_, err = i.Run(t.Context(), anyCell())
	require.ErrorIs(t, err, lost)
	require.Equal(t, "its sandbox was lost", i.Reason())
}

func TestAnEndBetweenCellsIsNoResult(t *testing.T) {
	t.Parallel()
	i, err := live.Start(t.Context(), fakeRunner{driver: func(_ context.Context, w wire) {
		w.say(hello)
		w.hear() // crosses with the end
		w.say(`{"t":"gone"}`)
	}, ended: sandbox.TestResult{ExitCode: 3}}, options())
	require.NoError(t, err)
	_, err = i.Run(t.Context(), anyCell())
	require.ErrorIs(t, err, live.ErrEnded)
	require.ErrorContains(t, err, "it exited with code 3")
}

// On gVisor the sandbox is lost as a whole, and nothing in it counts a kill.
func TestASandboxThatIsLostForItsMemory(t *testing.T) {
	t.Parallel()
	const why = "the kernel killed the whole sandbox for the memory limit of 64 MiB"
	i, err := live.Start(t.Context(), fakeRunner{driver: func(_ context.Context, w wire) {
		w.say(hello)
		w.hear()
		w.say(`{"t":"out","stream":1}`, "before")
	}, ended: sandbox.TestResult{Outcome: sandbox.OutcomeOutOfMemory, ExitCode: 137, Signal: "SIGKILL", Message: why}}, options())
	require.NoError(t, err)
	outcome, err := i.Run(t.Context(), anyCell())
	require.NoError(t, err)
	require.Equal(t, sandbox.OutcomeOutOfMemory, outcome.Result.Outcome)
	require.Equal(t, 137, outcome.Result.ExitCode)
	require.Equal(t, why, outcome.Result.Message)
	require.Equal(t, "before", string(outcome.Result.Stdout.Data))
	require.Equal(t, why, outcome.Report.Ended)
	require.Equal(t, why, i.Reason())
}

func TestADriverThatFallsSilentIsEnded(t *testing.T) {
	t.Parallel()
	var told []string
	var all sync.WaitGroup
	all.Add(1)
	i, err := live.Start(t.Context(), fakeRunner{driver: func(ctx context.Context, w wire) {
		defer all.Done()
		w.say(hello)
		for header := w.hear(); header != nil; header = w.hear() {
			told = append(told, header["t"].(string))
			if header["t"] == "kill" {
				break
			}
		}
		<-ctx.Done()
	}}, options())
	require.NoError(t, err)
	cell := anyCell()
	cell.WallTime = 10 * time.Millisecond
	outcome, err := i.Run(t.Context(), cell)
	require.NoError(t, err)
	require.Equal(t, sandbox.OutcomeWallTimeout, outcome.Result.Outcome)
	require.Contains(t, outcome.Report.Ended, "did not stop within 1 s")
	all.Wait()
	require.Equal(t, []string{"run", "interrupt", "kill"}, told)
}

// Whatever a driver sends between cells, and however much it displays, little of it is kept.
func TestWhatADriverDisplaysIsBounded(t *testing.T) {
	t.Parallel()
	o := options()
	o.FigureBytes = 1000
	i, err := live.Start(t.Context(), fakeRunner{driver: func(ctx context.Context, w wire) {
		w.say(hello)
		w.hear()
		for range 3000 {
			w.say(`{"t":"display","mime":"text/plain"}`)
		}
		for range 3000 {
			w.say(`{"t":"display","mime":"image/png"}`, strings.Repeat("x", 600))
		}
		for range 3000 {
			w.say(`{"t":"out","stream":1}`, strings.Repeat("x", 1000))
		}
		w.say(`{"t":"done","cell":1,"status":"ok"}`)
		w.say(`{"t":"out","stream":1}`, "x")
		<-ctx.Done()
	}}, o)
	require.NoError(t, err)
	outcome, err := i.Run(t.Context(), anyCell())
	require.NoError(t, err)
	require.Len(t, outcome.Report.Displays, 1001)
	require.Len(t, outcome.Result.Files, 1)
	require.Len(t, outcome.Result.RefusedFiles, 1000)
	require.Len(t, outcome.Result.Stdout.Data, 100)
	require.EqualValues(t, 3_000_000, outcome.Result.Stdout.Total)
	<-i.Done()
	require.Contains(t, i.Reason(), "it broke the protocol")
}
