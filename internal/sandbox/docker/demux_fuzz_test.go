package docker

import (
	"bytes"
	"context"
	"encoding/binary"
	"encoding/json"
	"io"
	"io/fs"
	"log/slog"
	"math"
	"net"
	"runtime"
	"strings"
	"sync"
	"testing"
	"testing/iotest"
	"time"

	"github.com/docker/docker/api/types"
	"github.com/stretchr/testify/require"

	"github.com/sandloop/sandloop/internal/sandbox"
	"github.com/sandloop/sandloop/internal/sandbox/wire"
)

// A script is what a container sends, as operations: a byte that tells what it is, two bytes of size and so many bytes. An operation that is none
// of these is a frame of that type, sealed as sandbox-init would, so that the fuzzer need not find a MAC: at worst, hostile code has the job's key.
const (
	opRaw    = 0x00 // bytes among the frames, as a program writes them that has got hold of the descriptor
	opStderr = 0xff // what sandbox-init says on its stderr
	opBroken = 0xfe // bytes beside Docker's own headers
)

// script is a conversation that is being recorded.
type script []byte

func (s script) add(op byte, data ...byte) script {
	return append(binary.BigEndian.AppendUint16(append(s, op), uint16(len(data))), data...)
}

func (s script) json(kind wire.Type, message any) script {
	data, err := json.Marshal(message)
	if err != nil {
		panic(err)
	}
	return s.add(byte(kind), data...)
}

func (s script) output(kind wire.Type, stream byte, data string) script {
	return s.add(byte(kind), append([]byte{stream}, data...)...)
}

// stream is what Docker makes of a script.
func (s script) stream(key []byte) []byte {
	var all, framed bytes.Buffer
	piece := func(stream byte, data []byte) {
		all.Write(binary.BigEndian.AppendUint32([]byte{stream, 0, 0, 0}, uint32(len(data))))
		all.Write(data)
	}
	w := wire.NewWriter(&framed)
	w.SetKey(key)
	for len(s) >= 3 {
		op, size := s[0], min(int(binary.BigEndian.Uint16(s[1:])), len(s)-3)
		data := s[3 : 3+size]
		s = s[3+size:]
		switch op {
		case opRaw:
			piece(1, data)
		case opStderr:
			piece(2, data)
		case opBroken:
			all.Write(data)
		default:
			framed.Reset()
			if w.Write(wire.Type(op), data) == nil {
				piece(1, framed.Bytes())
			}
		}
	}
	return all.Bytes()
}

// attached is the connection to a container that says what is in r. A deaf one reads nothing of what it is sent.
type attached struct {
	net.Conn
	r      io.Reader
	deaf   bool
	closed chan struct{}
	once   sync.Once
}

func (c *attached) Read(p []byte) (int, error) {
	select {
	case <-c.closed:
		return 0, net.ErrClosed
	default:
		return c.r.Read(p)
	}
}

func (c *attached) Write(p []byte) (int, error) {
	if c.deaf {
		<-c.closed
		return 0, net.ErrClosed
	}
	return len(p), nil
}

func (c *attached) Close() error {
	c.once.Do(func() { close(c.closed) })
	return nil
}

// The bits of how a script is played.
const (
	playCompiled   = 1 << iota // the program has a compile step
	playTests                  // it runs on tests
	playTalk                   // which talk
	playPlain                  // the script is the stream itself
	playByteByByte             // which comes in pieces of one byte
	playDeaf                   // nobody reads what the worker sends
	playReuse                  // the container is to be kept
	playCanceled               // somebody canceled the job
)

// player plays one script to the worker's side, in as many containers as it wants.
type player struct {
	t        testing.TB
	mode     byte
	stream   []byte
	ctx      context.Context
	prepared sandbox.Prepared
	tests    *series
	given    int

	received   report
	containers int
}

const playedTests = 4

var playedKey = bytes.Repeat([]byte{7}, 32)

func play(t testing.TB, mode byte, s script) (*player, sandbox.Result, error) {
	ctx, cancel := context.WithCancelCause(context.Background())
	defer cancel(nil)
	if mode&playCanceled != 0 {
		cancel(sandbox.ErrCanceled)
	}
	limits := sandbox.DefaultLimits()
	limits.Output, limits.FilesOut, limits.FileBytes = 1000, 3, 5000
	p := &player{t: t, mode: mode, stream: s, ctx: ctx, prepared: sandbox.Prepared{Limits: limits, Plan: sandbox.Plan{Run: []string{"./out"}}}}
	if mode&playPlain == 0 {
		p.stream = s.stream(playedKey)
	}
	if mode&playCompiled != 0 {
		p.prepared.Plan.Compile = []string{"cc"}
	}
	if mode&playTests == 0 {
		result, err := p.container()
		return p, result, err
	}
	p.tests = &series{next: p.next}
	defer p.tests.giveUp()
	for {
		result, err := p.container()
		if err != nil && err != errUnclean { //nolint:errorlint // it is the value itself
			return p, result, err
		}
		if err == nil && p.tests.conclude(&result) {
			return p, result, nil
		}
		require.LessOrEqual(t, p.containers, playedTests+1, "each container costs a test")
	}
}

// next gives a few tests and looks at what became of them.
func (p *player) next(previous *sandbox.TestResult) (sandbox.Test, bool) {
	if previous != nil {
		p.bounded(previous.Stdout, previous.Stderr, previous.Files, previous.RefusedFiles, previous.Message)
		require.GreaterOrEqual(p.t, previous.CPUUser+previous.CPUSystem, sandbox.Seconds(0))
		require.GreaterOrEqual(p.t, previous.PeakMemory, int64(0))
		if previous.OK {
			require.Zero(p.t, previous.ExitCode)
		}
	}
	p.given++
	test := sandbox.Test{ID: "t", Stdin: []byte("in"), Outputs: []string{"*"}}
	if p.mode&playTalk != 0 {
		test.Talk = &sandbox.Talk{Input: strings.NewReader("input"), Output: drain{}}
	}
	return test, p.given <= playedTests
}

type drain struct{}

func (drain) Write(p []byte) (int, error) { return len(p), nil }
func (drain) Close() error                { return nil }

// container is what Runner does with one, without Docker.
func (p *player) container() (sandbox.Result, error) {
	p.containers++
	j := job{spec: wire.Spec{Key: playedKey, Steps: steps(p.prepared), FilesOut: p.prepared.Limits.FilesOut, FileBytes: p.prepared.Limits.FileBytes}}
	j.spec.Reuse = p.mode&playReuse != 0
	if p.tests != nil {
		p.tests.begin(sandbox.Program{}, p.prepared, sandbox.DefaultMaxima())
		j.forTests(p.tests)
	}
	heard := 0
	j.onOutput = func(o sandbox.Output) { heard += len(o.Data) }
	conn := &attached{r: bytes.NewReader(p.stream), deaf: p.mode&playDeaf != 0, closed: make(chan struct{})}
	if p.mode&playByteByByte != 0 {
		conn.r = iotest.OneByteReader(conn.r)
	}
	b := &box{id: "0123456789abcdef", expires: time.Now().Add(time.Hour), conn: types.NewHijackedResponse(conn, "")}
	b.stream = &demux{r: b.conn.Reader}
	b.reader, b.writer = wire.NewReader(b.stream), wire.NewWriter(conn)
	x := &task{
		runner: &Runner{options: Options{Log: slog.New(slog.DiscardHandler)}}, box: b, job: j, limits: p.prepared.Limits,
		renamed: make(chan struct{}), reuse: &reuseKey{},
	}
	close(x.renamed)
	if conn.deaf { // in place of the time limit
		defer time.AfterFunc(20*time.Millisecond, b.hangUp).Stop()
	}
	received, err := x.converse(p.ctx)
	p.received = received
	require.LessOrEqual(p.t, len(b.complaint()), 2*stderrKept)
	if x.kept {
		require.NoError(p.t, err)
		require.NotNil(p.t, received.end)
		_ = b.awaitClean()
	}
	if p.tests != nil && p.tests.running {
		x.limits = p.tests.pending.limits
	}
	switch {
	case err == nil && received.fault != "":
		return x.faulted(p.ctx, received)
	case err == nil:
		return resultOf(received, x.limits), nil
	case p.mode&playCanceled != 0:
		return x.broken(p.ctx, received, err)
	default:
		return x.blame(p.ctx, received, fate{died: true, exitCode: exitSignalBase + sigkill}, err)
	}
}

// bounded fails if any of what hostile code can make large is larger than the limits.
func (p *player) bounded(stdout, stderr sandbox.Stream, files []sandbox.File, refused []sandbox.RefusedFile, message string) {
	limits, total := p.prepared.Limits, int64(0)
	for _, stream := range []sandbox.Stream{stdout, stderr} {
		require.LessOrEqual(p.t, int64(len(stream.Data)), limits.Output)
		require.GreaterOrEqual(p.t, stream.Total, int64(len(stream.Data)))
		require.LessOrEqual(p.t, stream.CutAt, len(stream.Data))
	}
	require.LessOrEqual(p.t, len(files), limits.FilesOut)
	for _, file := range files {
		require.True(p.t, fs.ValidPath(file.Path) && len(file.Path) <= 1024, "%q", file.Path)
		total += int64(len(file.Data))
	}
	require.LessOrEqual(p.t, total, limits.FileBytes)
	require.LessOrEqual(p.t, len(refused), 102)
	require.LessOrEqual(p.t, len(message), 20_000)
}

// check fails if the result is not to be believed.
func (p *player) check(result sandbox.Result) {
	t := p.t
	p.bounded(result.Stdout, result.Stderr, result.Files, result.RefusedFiles, result.Message)
	if result.Compile != nil {
		p.bounded(result.Compile.Stdout, result.Compile.Stderr, nil, nil, "")
	}
	require.NotEmpty(t, result.Outcome)
	if result.Outcome == sandbox.OutcomeOK {
		require.True(t, result.OK)
	}
	if p.mode&playCanceled == 0 {
		require.NotEqual(t, sandbox.OutcomeCanceled, result.Outcome, "nobody canceled it")
	}
	if !result.OK {
		return
	}
	if p.tests != nil {
		require.True(t, p.tests.over, "there are tests left")
		require.Greater(t, p.given, playedTests)
		return
	}
	require.NotNil(t, p.received.end, "success without an end")
	require.Len(t, p.received.steps, len(steps(p.prepared))+1, "success without all steps")
	last := p.received.steps[len(p.received.steps)-2].report
	require.Equal(t, "run", last.Name)
	require.Zero(t, last.ExitCode)
}

// legal are conversations as sandbox-init has them.
func legal() map[byte]script {
	start := script{}.json(wire.TypeStart, wire.Start{Kernel: sandbox.KernelView{CgroupVersion: 2, PIDs: 64, Interfaces: []string{"eth0"}}})
	ran := func(s script, stdout string) script {
		s = s.output(wire.TypeOutput, wire.StreamStdout, stdout).output(wire.TypeOutput, wire.StreamStderr, "warn")
		s = s.output(wire.TypeTail, wire.StreamStdout, "end").add(opStderr, []byte("init: a note\n")...)
		s = s.json(wire.TypeFile, wire.FileHeader{Path: "a/b", Size: 3, Executable: true}).add(byte(wire.TypeData), []byte("abc")...)
		return s.json(wire.TypeFile, wire.FileHeader{Path: "empty"})
	}
	run := wire.StepReport{Name: "run", StdoutTotal: 5000, StderrTotal: 4, Duration: 1e9, CPUUser: 1e8, PeakMemory: 1 << 20}
	end := wire.End{Refused: []sandbox.RefusedFile{{Path: "l", Reason: "is a symbolic link, not a file"}}}
	compile := start.output(wire.TypeOutput, wire.StreamStderr, "warning: x").json(wire.TypeStep, wire.StepReport{Name: "compile", StderrTotal: 10})
	talk := func(s script) script {
		s = s.add(byte(wire.TypeCredit), credit(wire.InputWindow)...).output(wire.TypeOutput, wire.StreamStdout, "hello")
		s = s.output(wire.TypeMore, wire.StreamStdout, "more").output(wire.TypeOutputEnd, wire.StreamStdout, "")
		return s.json(wire.TypeStep, wire.StepReport{Name: "run", StdoutTotal: 9})
	}
	clone := bytes.Clone
	series, talks := clone(compile), clone(compile)
	for range playedTests {
		series = ran(series, "out").json(wire.TypeStep, run)
		talks = talk(talks)
	}
	single := ran(clone(start), "out")
	single = script(single).json(wire.TypeStep, run)
	return map[byte]script{
		0:                                   script(clone(single)).json(wire.TypeEnd, end),
		playReuse:                           script(clone(single)).json(wire.TypeEnd, end).add(byte(wire.TypeClean)),
		playCompiled:                        ran(clone(compile), "out").json(wire.TypeStep, run).json(wire.TypeEnd, end),
		playCompiled | playTests:            script(series).json(wire.TypeEnd, end),
		playCompiled | playTests | playTalk: script(talks).json(wire.TypeEnd, end),
	}
}

func TestLegalConversationsAreBelieved(t *testing.T) {
	t.Parallel()
	for mode, s := range legal() {
		for _, way := range []byte{0, playByteByByte, playPlain} {
			if way == playPlain {
				s = s.stream(playedKey)
			}
			p, result, err := play(t, mode|way, s)
			require.NoError(t, err)
			require.True(t, result.OK, "%b: %s", mode, result.Message)
			require.Equal(t, 1, p.containers)
			p.check(result)
		}
	}
}

// FuzzStream plays any bytes as what a container sends, from Docker's pieces to the result: its process 1 may be anybody's at worst.
func FuzzStream(f *testing.F) {
	for mode, s := range legal() {
		f.Add(mode, []byte(s))
		f.Add(mode|playPlain, s.stream(playedKey))
		f.Add(mode|playDeaf, []byte(s))
		f.Add(mode|playCanceled, []byte(s[:len(s)/2]))
	}
	f.Add(byte(0), []byte(script{}.json(wire.TypeStart, wire.Start{}).json(wire.TypeFault, wire.Fault{Message: "m", Unclean: true})))
	f.Add(byte(playTests), []byte(script{}.json(wire.TypeStart, wire.Start{}).json(wire.TypeFault, wire.Fault{Unclean: true})))
	f.Add(byte(0), []byte(script{}.json(wire.TypeFault, wire.Fault{Unclean: true})))
	f.Add(byte(playTests), []byte(script{}.json(wire.TypeFault, wire.Fault{Unclean: true})))
	f.Add(byte(0), []byte(script{}.json(wire.TypeStart, wire.Start{}).json(wire.TypeStep, wire.StepReport{Name: "run"}).json(wire.TypeFault, wire.Fault{Unclean: true})))
	f.Add(byte(0), []byte(script{}.json(wire.TypeStart, wire.Start{}).json(wire.TypeStep, wire.StepReport{Name: "run"}).
		json(wire.TypeFile, wire.FileHeader{Path: "a", Size: 1}).add(byte(wire.TypeData), 'x').json(wire.TypeFile, wire.FileHeader{Path: "b", Size: math.MaxInt64})))
	f.Add(byte(0), []byte(script{}.add(opRaw, 'O', 0, 0x40, 0, 0, 1).add(opBroken, 7)))
	f.Fuzz(func(t *testing.T, mode byte, data []byte) {
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		watch := time.AfterFunc(10*time.Second, func() { panic("it waits for ever") })
		p, result, err := play(t, mode, data)
		watch.Stop()
		runtime.ReadMemStats(&after)
		// One frame can be 4 MiB at a time, and JSON of it some ten times that.
		require.Less(t, after.TotalAlloc-before.TotalAlloc, uint64(p.containers*(16<<20+500*len(p.stream))))
		if err == nil {
			p.check(result)
		}
	})
}
