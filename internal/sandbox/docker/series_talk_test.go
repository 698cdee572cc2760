package docker

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/sandloop/sandloop/internal/sandbox"
	"github.com/sandloop/sandloop/internal/testenv"
)

// pipe is a bounded pipe in memory. Write never waits, and refuses what does not fit.
type pipe struct {
	mu     sync.Mutex
	change *sync.Cond
	buf    bytes.Buffer
	closed bool
}

const pipeSize = 1 << 20

func newPipe() *pipe {
	p := &pipe{}
	p.change = sync.NewCond(&p.mu)
	return p
}

func (p *pipe) Write(data []byte) (int, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.closed || p.buf.Len()+len(data) > pipeSize {
		return 0, io.ErrShortBuffer
	}
	p.change.Broadcast()
	return p.buf.Write(data)
}

func (p *pipe) Read(data []byte) (int, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for p.buf.Len() == 0 && !p.closed {
		p.change.Wait()
	}
	return p.buf.Read(data) // io.EOF if empty
}

func (p *pipe) Close() error {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.closed = true
	p.change.Broadcast()
	return nil
}

// line reads one without its end.
func line(t testing.TB, r *bufio.Reader) string {
	t.Helper()
	text, err := r.ReadString('\n')
	require.NoError(t, err, "after %q", text)
	return strings.TrimSuffix(text, "\n")
}

// ran is what became of the tests of one program.
type ran struct {
	tests []sandbox.TestResult
	whole sandbox.Result
	err   error
}

// startTests runs tests in another goroutine.
func (b *bundle) startTests(ctx context.Context, p sandbox.Program, tests ...sandbox.Test) <-chan ran {
	done := make(chan ran, 1)
	go func() {
		var r ran
		r.whole, r.err = b.RunTests(ctx, p, func(previous *sandbox.TestResult) (sandbox.Test, bool) {
			if previous != nil {
				r.tests = append(r.tests, *previous)
			}
			if len(r.tests) == len(tests) {
				return sandbox.Test{}, false
			}
			return tests[len(r.tests)], true
		})
		done <- r
	}()
	return done
}

// talkTo runs one test of a program and talks with it. It closes the test's input when talk returns.
func (b *bundle) talkTo(t testing.TB, p sandbox.Program, test sandbox.Test, talk func(in *pipe, out *bufio.Reader)) sandbox.TestResult {
	t.Helper()
	in, out := newPipe(), newPipe()
	defer func() { _ = in.Close() }()
	test.Talk = &sandbox.Talk{Input: in, Output: out}
	done := b.startTests(t.Context(), p, test)
	talk(in, bufio.NewReader(out))
	require.NoError(t, in.Close())
	got := <-done
	require.NoError(t, got.err)
	require.Equal(t, sandbox.OutcomeOK, got.whole.Outcome, got.whole.Message)
	return got.tests[0]
}

// guesser is a submission that guesses a number by halving.
const guesser = `
low, high = 1, 1000000
while True:
    guess = (low + high) // 2
    print(guess, flush=True)
    answer = input()
    if answer == "equal": break
    if answer == "less": high = guess - 1
    else: low = guess + 1
`

// validator it exits with 42 for a submission that guesses its number in 20 tries, and with 43 for another.
const validator = `
import sys
number = int(sys.argv[1])
for tries in range(1, 21):
    line = sys.stdin.readline()
    if not line:
        print("no guess", file=sys.stderr)
        sys.exit(43)
    guess = int(line)
    answer = "equal" if guess == number else "less" if guess > number else "greater"
    try: print(answer, flush=True)
    except BrokenPipeError: pass
    if guess == number:
        open("tries", "w").write(str(tries))
        sys.exit(42 if not sys.stdin.read() else 43)
print("too many", file=sys.stderr)
sys.exit(43)
`

// interact runs tests of a submission against the validator, in two containers at once.
func (b *bundle) interact(t *testing.T, submission sandbox.Program, tests ...sandbox.Test) (submitted, judged []sandbox.TestResult) {
	t.Helper()
	judging := slices.Clone(tests)
	for i := range tests {
		toSubmission, toJudge := newPipe(), newPipe()
		tests[i].Args, tests[i].Talk = nil, &sandbox.Talk{Input: toSubmission, Output: toJudge}
		judging[i].Outputs, judging[i].WallTime = []string{"tries"}, nil
		judging[i].Talk = &sandbox.Talk{Input: toJudge, Output: toSubmission}
	}
	ofValidator := b.startTests(t.Context(), python(validator), judging...)
	submitted, whole := b.runTests(t, submission, tests...)
	require.Equal(t, sandbox.OutcomeOK, whole.Outcome, whole.Message)
	got := <-ofValidator
	require.NoError(t, got.err)
	require.Equal(t, sandbox.OutcomeOK, got.whole.Outcome, got.whole.Message)
	return submitted, got.tests
}

func TestSubmissionAndValidatorTalk(t *testing.T) {
	t.Parallel()
	b := setup(t)
	submitted, judged := b.interact(t, python(guesser), sandbox.Test{Args: []string{"500000"}}, sandbox.Test{Args: []string{"1"}}, sandbox.Test{Args: []string{"1000001"}})
	// 1 to 1,000,000 is halved 19 times down to 1; the first guess is the middle.
	for i, want := range []string{"1", "19", ""} {
		if want == "" {
			require.Equal(t, 43, judged[i].ExitCode)
			require.Equal(t, "too many\n", string(judged[i].Stderr.Data))
			require.Empty(t, judged[i].Files)
			require.Equal(t, sandbox.OutcomeNonzeroExit, submitted[i].Outcome, "it reads the end of its input")
			require.Contains(t, string(submitted[i].Stderr.Data), "EOFError")
			continue
		}
		require.Equal(t, 42, judged[i].ExitCode, "%s", judged[i].Stderr.Data)
		require.Equal(t, []sandbox.File{{Path: "tries", Data: []byte(want)}}, judged[i].Files)
		require.Equal(t, sandbox.OutcomeOK, submitted[i].Outcome, "%s", submitted[i].Stderr.Data)
	}
	require.Equal(t, "500000\n", string(submitted[0].Stdout.Data))
	require.Equal(t, "equal\n", string(judged[0].Stdout.Data))
	require.EqualValues(t, 2, b.Stats().ColdStarts, "a container for each of the two")
}

func TestSubmissionsThatDoNotTalkAsTheyShould(t *testing.T) {
	t.Parallel()
	b := setup(t)
	limit := testenv.Scale(t, time.Second)
	for name, tt := range map[string]struct {
		submission string
		outcome    sandbox.Outcome
		exitCode   int // of the validator
		said       string
	}{
		"exits at once":     {"pass", sandbox.OutcomeOK, 43, "no guess\n"},
		"closes and sleeps": {"import os, time; os.close(1); time.sleep(60)", sandbox.OutcomeWallTimeout, 43, "no guess\n"},
		"sleeps":            {"import time; time.sleep(60)", sandbox.OutcomeWallTimeout, 43, "no guess\n"},
		"never reads":       {"for i in range(30): print(i, flush=True)", sandbox.OutcomeOK, 43, "too many\n"},
		"closes its input":  {"import os; os.close(0)\nfor i in range(20): print(i, flush=True)", sandbox.OutcomeOK, 43, "too many\n"},
		"floods":            {"while True: print('1' * 60)", sandbox.OutcomeOutputLimit, 43, "too many\n"},
	} {
		p := python(tt.submission)
		p.Limits.OutputKill = ptr(sandbox.MiB)
		submitted, judged := b.interact(t, p, sandbox.Test{Args: []string{"7000000"}, WallTime: wall(limit)}, sandbox.Test{Args: []string{"7000000"}, WallTime: wall(limit)})
		for i := range submitted { // the second begins as clean as the first
			require.Equal(t, tt.outcome, submitted[i].Outcome, "%s: %s %s", name, submitted[i].Message, submitted[i].Stderr.Data)
			require.Equal(t, tt.exitCode, judged[i].ExitCode, "%s: %s", name, judged[i].Stderr.Data)
			require.Equal(t, tt.said, string(judged[i].Stderr.Data), name)
		}
	}
}

func TestTalkIsBytesInOrder(t *testing.T) {
	t.Parallel()
	b := setup(t)
	data := make([]byte, 3<<20) // many times the window, the pipes and what is kept
	for i := range data {
		data[i] = byte(i ^ i>>8 ^ i>>16)
	}
	var back []byte
	got := b.talkTo(t, bash("cat; echo end >&2"), sandbox.Test{Stdin: []byte("not used")}, func(in *pipe, out *bufio.Reader) {
		for sent := 0; sent < len(data); sent += 1 << 16 {
			_, err := in.Write(data[sent : sent+1<<16])
			require.NoError(t, err)
			piece := make([]byte, 1<<16)
			_, err = io.ReadFull(out, piece)
			require.NoError(t, err)
			back = append(back, piece...)
		}
		require.NoError(t, in.Close())
		_, err := out.ReadByte()
		require.ErrorIs(t, err, io.EOF)
	})
	require.True(t, bytes.Equal(data, back))
	require.Equal(t, sandbox.OutcomeOK, got.Outcome, got.Message)
	require.Equal(t, "end\n", string(got.Stderr.Data))
	require.EqualValues(t, len(data), got.Stdout.Total)
	kept := append(slices.Clone(data[:32<<10]), data[len(data)-32<<10:]...)
	require.True(t, bytes.Equal(kept, got.Stdout.Data), "head and tail are kept as ever")
	require.Equal(t, 32<<10, got.Stdout.CutAt)
}

func TestValidatorSeesThatStdoutIsClosedWhileTheSubmissionGoesOn(t *testing.T) {
	t.Parallel()
	b := setup(t)
	got := b.talkTo(t, bash("echo hello", "sleep 600 2>/dev/null >&1 &", "exec >&-", "read -r n", "echo then $n >&2", "exec sleep 600 >/dev/null"),
		sandbox.Test{WallTime: wall(testenv.Scale(t, 2*time.Second))}, func(in *pipe, out *bufio.Reader) {
			require.Equal(t, "hello", line(t, out))
			_, _ = in.Write([]byte("word\n"))
			_, err := out.ReadByte()
			require.ErrorIs(t, err, io.EOF, "at the end at the latest: a child has it open")
		})
	require.Equal(t, sandbox.OutcomeWallTimeout, got.Outcome)
	require.Equal(t, "then word\n", string(got.Stderr.Data))

	begun := time.Now()
	var closed time.Duration
	got = b.talkTo(t, bash("exec >&-", "exec sleep 600"), sandbox.Test{WallTime: wall(testenv.Scale(t, 3*time.Second))}, func(_ *pipe, out *bufio.Reader) {
		_, err := out.ReadByte()
		require.ErrorIs(t, err, io.EOF)
		closed = time.Since(begun)
	})
	require.Equal(t, sandbox.OutcomeWallTimeout, got.Outcome)
	require.Greater(t, time.Since(begun)-closed, testenv.Scale(t, 2*time.Second), "long before the test ended")
}

func TestLimitsAndCancelHoldWhileNobodyReads(t *testing.T) {
	t.Parallel()
	b := setup(t)
	flood := func(in *pipe, _ *bufio.Reader) {
		for sent := 0; sent < 600<<10; sent += 1 << 10 { // more than the window and the pipe of the program
			_, err := in.Write(make([]byte, 1<<10))
			require.NoError(t, err)
		}
	}
	got := b.talkTo(t, bash("sleep 600"), sandbox.Test{WallTime: wall(testenv.Scale(t, time.Second))}, flood)
	require.Equal(t, sandbox.OutcomeWallTimeout, got.Outcome)
	got = b.talkTo(t, bash("while :; do :; done"), sandbox.Test{CPUTime: wall(testenv.Scale(t, 300*time.Millisecond))}, flood)
	require.Equal(t, sandbox.OutcomeCPUTimeout, got.Outcome)

	for name, cause := range map[string]error{"canceled": sandbox.ErrCanceled, "lost": errors.New("attempt lost")} {
		ctx, cancel := context.WithCancelCause(t.Context())
		in, out := newPipe(), newPipe()
		done := b.startTests(ctx, bash("echo up; sleep 600"), sandbox.Test{Talk: &sandbox.Talk{Input: in, Output: out}})
		reader := bufio.NewReader(out)
		require.Equal(t, "up", line(t, reader))
		flood(in, reader)
		cancel(cause)
		_, err := io.ReadAll(reader)
		require.NoError(t, err, "it is closed")
		got := <-done
		require.NoError(t, in.Close())
		if errors.Is(cause, sandbox.ErrCanceled) {
			require.NoError(t, got.err, name)
			require.Equal(t, sandbox.OutcomeCanceled, got.whole.Outcome, name)
			require.Equal(t, "up\n", string(got.whole.Stdout.Data), name)
		} else {
			require.ErrorIs(t, got.err, cause, name)
		}
	}
}

func TestTestsWithAndWithoutTalkFollowEachOther(t *testing.T) {
	t.Parallel()
	b := setup(t)
	var tests []sandbox.Test
	var pipes []*pipe
	for i := range 12 {
		test := sandbox.Test{ID: fmt.Sprint(i), Stdin: []byte(fmt.Sprint("stdin ", i, "\n"))}
		if i%3 != 0 {
			in, out := newPipe(), newPipe()
			_, _ = fmt.Fprintf(in, "talk %d\n", i)
			_, _ = in.Write(make([]byte, 500<<10)) // nobody reads it, nor may the next test
			if i%3 == 1 {
				require.NoError(t, in.Close())
			}
			test.Talk = &sandbox.Talk{Input: in, Output: out}
			pipes = append(pipes, in)
		}
		tests = append(tests, test)
	}
	got, whole := b.runTests(t, bash("read -r line; echo $line; exec <&-; sleep 0.0$((RANDOM % 5))"), tests...)
	require.Equal(t, sandbox.OutcomeOK, whole.Outcome, whole.Message)
	require.Len(t, got, 12)
	for i, result := range got {
		require.Equal(t, sandbox.OutcomeOK, result.Outcome, result.Message)
		want := fmt.Sprintf("talk %d\n", i)
		if i%3 == 0 {
			want = fmt.Sprintf("stdin %d\n", i)
		}
		require.Equal(t, want, string(result.Stdout.Data))
	}
	require.EqualValues(t, 1, b.Stats().ColdStarts)
	for _, in := range pipes {
		_ = in.Close()
	}
}

func TestTalkThatNeedsAnotherContainerLosesNothing(t *testing.T) {
	t.Parallel()
	b := setup(t)
	p := python("import os, socket, sys", "server = socket.create_server(('127.0.0.1', 9000))",
		"client = socket.create_connection(('127.0.0.1', 9000))", "other, _ = server.accept()",
		"client.close()", "other.recv(1)", "other.close()", // a connection in TIME-WAIT, which cannot be removed
		"print(input(), flush=True)", "sys.stdin.read()")
	var tests []sandbox.Test
	var outs []*pipe
	for range 3 {
		in, out := newPipe(), newPipe()
		_, _ = in.Write([]byte("first\n"))
		require.NoError(t, in.Close())
		tests, outs = append(tests, sandbox.Test{Talk: &sandbox.Talk{Input: in, Output: out}}), append(outs, out)
	}
	got, whole := b.runTests(t, p, tests...)
	require.Equal(t, sandbox.OutcomeOK, whole.Outcome, whole.Message)
	for i := range got {
		require.Equal(t, sandbox.OutcomeOK, got[i].Outcome, "%s", got[i].Stderr.Data)
		said, err := io.ReadAll(outs[i])
		require.NoError(t, err)
		require.Equal(t, "first\n", string(said))
	}
	require.EqualValues(t, 3, b.Stats().ColdStarts)
}

func TestProgramsOfABatchTalkInOneContainer(t *testing.T) {
	t.Parallel()
	b := setup(t, reusing)
	for i := range 3 {
		var tests []sandbox.Test
		for j := range 2 {
			in, out := newPipe(), newPipe()
			defer func() { _ = in.Close() }()
			_, _ = fmt.Fprintf(in, "talk %d %d\n", i, j)
			_, _ = in.Write(make([]byte, 500<<10)) // is read by nobody, and still to come when the test ends
			tests = append(tests, sandbox.Test{Talk: &sandbox.Talk{Input: in, Output: out}})
		}
		got, whole := b.runTests(t, of("a", bash("read -r line; echo $line")), tests...)
		require.Equal(t, sandbox.OutcomeOK, whole.Outcome, whole.Message)
		require.Equal(t, i > 0, whole.Enforcement.Reused)
		for j := range got {
			require.Equal(t, fmt.Sprintf("talk %d %d\n", i, j), string(got[j].Stdout.Data))
		}
		b.awaitKept(t)
	}
	got := b.run(t, of("a", bash("cat; echo no input")))
	require.True(t, got.Enforcement.Reused)
	require.Equal(t, "no input\n", string(got.Stdout.Data))
	require.EqualValues(t, 1, b.Stats().ColdStarts)
}

func TestTalkOfATestThatDoesNotBeginIsClosed(t *testing.T) {
	t.Parallel()
	image := testenv.Image(t)
	table, err := sandbox.NewLanguages([]sandbox.Language{
		{Name: "bash", Image: image, File: "main.sh", Run: []string{"bash", "{file}"}},
		{Name: "absent", Image: image, File: "main", Run: []string{"absent", "{file}"}},
	})
	require.NoError(t, err)
	b := setup(t, func(o *Options) { o.Languages = table })
	in, out := newPipe(), newPipe()
	talk := &sandbox.Talk{Input: in, Output: out}
	_, whole := b.runTests(t, bash("true"), sandbox.Test{Args: []string{"\x00"}, Talk: talk})
	require.Equal(t, sandbox.OutcomeRejected, whole.Outcome)
	_, err = io.ReadAll(out)
	require.NoError(t, err)

	got := b.talkTo(t, sandbox.Program{Language: "absent", Source: []byte("x")}, sandbox.Test{}, func(_ *pipe, out *bufio.Reader) {
		_, err := out.ReadByte()
		require.ErrorIs(t, err, io.EOF)
	})
	require.Equal(t, sandbox.OutcomeNonzeroExit, got.Outcome)
	require.Equal(t, 127, got.ExitCode)
}

// BenchmarkTalk measures the round trip of a line of one byte between worker and program.
func BenchmarkTalk(b *testing.B) {
	bundle := setup(b)
	p := python("import sys", "for line in sys.stdin: print(line, end='', flush=True)")
	p.Limits.CPUs = ptr(2.0)
	var all []time.Duration
	bundle.talkTo(b, p, sandbox.Test{}, func(in *pipe, out *bufio.Reader) {
		for b.Loop() {
			begun := time.Now()
			_, _ = in.Write([]byte("x\n"))
			require.Equal(b, "x", line(b, out))
			all = append(all, time.Since(begun))
		}
	})
	slices.Sort(all)
	b.ReportMetric(0, "ns/op") // it holds the start of the container
	b.ReportMetric(float64(all[len(all)/2].Microseconds()), "median-µs")
	b.ReportMetric(float64(all[len(all)*99/100].Microseconds()), "p99-µs")
}
