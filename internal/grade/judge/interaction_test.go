package judge

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"strconv"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/sandloop/sandloop/internal/grade"
	"github.com/sandloop/sandloop/internal/sandbox"
)

// side is a program of an interaction. What it does after the end of run, the sandbox does: it reports late.
type side struct {
	run  func(in *bufio.Reader, out io.WriteCloser) sandbox.TestResult
	late time.Duration
}

// talks makes the fake run a program that talks. The clock is synctest's, so durations are exact.
func (b *bundle) talks(name string, s side) sandbox.Program {
	return b.program(name, func(test sandbox.Test) sandbox.TestResult {
		from := time.Now()
		result := s.run(bufio.NewReader(test.Talk.Input), test.Talk.Output)
		result.Duration = sandbox.Seconds(time.Since(from))
		_ = test.Talk.Output.Close()
		time.Sleep(s.late)
		return result
	})
}

func interactive(validator sandbox.Program, n int) grade.Task {
	suite := numbered(n)
	suite.Checker = grade.Checker{Kind: grade.CheckInteractive, Programs: []sandbox.Program{validator}}
	return grade.Task{Suite: suite}
}

// host is the validator of a guessing game: it has 37 in mind, answers 6 guesses and rejects whoever needs more or stops.
func host(in *bufio.Reader, out io.WriteCloser) sandbox.TestResult {
	for range 6 {
		line, err := in.ReadString('\n')
		if err != nil {
			return withFiles(exited(43, "", ""), "judgemessage.txt", "the output ended")
		}
		guess, err := strconv.Atoi(strings.TrimSpace(line))
		switch {
		case err != nil:
			return withFiles(exited(43, "", ""), "judgemessage.txt", "no number: "+line)
		case guess == 37:
			fmt.Fprintln(out, "right")
			return accepting("judgemessage.txt", "found")
		case guess < 37:
			fmt.Fprintln(out, "more")
		default:
			fmt.Fprintln(out, "less")
		}
	}
	return withFiles(exited(43, "", ""), "judgemessage.txt", "too many guesses")
}

// halve finds a number up to 63 in at most 6 guesses.
func halve(in *bufio.Reader, out io.WriteCloser) sandbox.TestResult {
	low, high := 0, 63
	for low <= high {
		fmt.Fprintln(out, (low+high)/2)
		switch line, _ := in.ReadString('\n'); line {
		case "right\n":
			return printed("")
		case "more\n":
			low = (low+high)/2 + 1
		default:
			high = (low+high)/2 - 1
		}
	}
	return exited(1, "", "lost")
}

// count guesses 0, 1, 2 and fails when nobody answers.
func count(in *bufio.Reader, out io.WriteCloser) sandbox.TestResult {
	for guess := 0; ; guess++ {
		fmt.Fprintln(out, guess)
		if _, err := in.ReadString('\n'); err != nil {
			return exited(1, "", "EOFError")
		}
	}
}

func timedOut() sandbox.TestResult {
	return sandbox.TestResult{Outcome: sandbox.OutcomeWallTimeout, ExitCode: -1, TimedOut: true, Message: "stopped at the wall-clock limit of 2 s"}
}

func TestVerdictsOfInteractions(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		validator, submission side
		want                  grade.Finding
	}{
		"right": {side{run: host}, side{run: halve}, grade.Finding{Verdict: grade.AC, Message: "found"}},
		"the submission crashes because the validator rejected": {
			side{run: host}, side{run: count}, grade.Finding{Verdict: grade.WA, Message: "too many guesses"},
		},
		"and the validator's sandbox reports later": {
			side{host, time.Second}, side{run: count}, grade.Finding{Verdict: grade.WA, Message: "too many guesses"},
		},
		"the submission crashes by itself": {
			side{run: host},
			side{run: func(*bufio.Reader, io.WriteCloser) sandbox.TestResult { return exited(1, "", "bug") }},
			grade.Finding{Verdict: grade.RE, Message: "exit code 1", Public: "exit code 1"},
		},
		"and its sandbox reports later": {
			side{run: host},
			side{func(*bufio.Reader, io.WriteCloser) sandbox.TestResult { return exited(1, "", "bug") }, time.Second},
			grade.Finding{Verdict: grade.RE, Message: "exit code 1", Public: "exit code 1"},
		},
		"the submission ends early": {
			side{run: host},
			side{run: func(*bufio.Reader, io.WriteCloser) sandbox.TestResult { return printed("") }},
			grade.Finding{Verdict: grade.WA, Message: "the output ended"},
		},
		"both wait for each other": {
			side{host, time.Second},
			side{run: func(*bufio.Reader, io.WriteCloser) sandbox.TestResult { time.Sleep(2 * time.Second); return timedOut() }},
			grade.Finding{Verdict: grade.TLE, Message: "stopped at the wall-clock limit of 2 s", Public: "stopped at the wall-clock limit of 2 s"},
		},
		"both wait, and the submission's sandbox reports later": {
			side{run: host},
			side{func(*bufio.Reader, io.WriteCloser) sandbox.TestResult { time.Sleep(2 * time.Second); return timedOut() }, time.Second},
			grade.Finding{Verdict: grade.TLE, Message: "stopped at the wall-clock limit of 2 s", Public: "stopped at the wall-clock limit of 2 s"},
		},
		"the submission closes its output and sleeps": {
			side{run: host},
			side{run: func(_ *bufio.Reader, out io.WriteCloser) sandbox.TestResult {
				_ = out.Close()
				time.Sleep(2 * time.Second)
				return timedOut()
			}},
			grade.Finding{Verdict: grade.WA, Message: "the output ended"},
		},
		"the submission does not care that it was rejected": {
			side{run: host},
			side{run: func(_ *bufio.Reader, out io.WriteCloser) sandbox.TestResult {
				fmt.Fprintln(out, "x")
				time.Sleep(2 * time.Second)
				return timedOut()
			}},
			grade.Finding{Verdict: grade.WA, Message: "no number: x"},
		},
		"accepted, and then it crashes": {
			side{run: host},
			side{run: func(in *bufio.Reader, out io.WriteCloser) sandbox.TestResult {
				fmt.Fprintln(out, 37)
				_, _ = io.Copy(io.Discard, in)
				return exited(5, "", "")
			}},
			grade.Finding{Verdict: grade.RE, Message: "exit code 5", Public: "exit code 5"},
		},
		"accepted, and then it hangs": {
			side{run: host},
			side{run: func(_ *bufio.Reader, out io.WriteCloser) sandbox.TestResult {
				fmt.Fprintln(out, 37)
				time.Sleep(2 * time.Second)
				return timedOut()
			}},
			grade.Finding{Verdict: grade.TLE, Message: "stopped at the wall-clock limit of 2 s", Public: "stopped at the wall-clock limit of 2 s"},
		},
		"the submission floods a validator that does not listen": {
			side{run: func(in *bufio.Reader, _ io.WriteCloser) sandbox.TestResult {
				time.Sleep(5 * time.Second)
				_, _ = io.Copy(io.Discard, in)
				return exited(43, "", "")
			}},
			side{run: func(_ *bufio.Reader, out io.WriteCloser) sandbox.TestResult {
				for range 100 {
					_, _ = out.Write(make([]byte, sandbox.MiB))
				}
				return sandbox.TestResult{Outcome: sandbox.OutcomeOutputLimit, ExitCode: -1, Message: "stopped when a stream passed the limit of 32 MiB"}
			}},
			grade.Finding{Verdict: grade.OLE, Message: "stopped when a stream passed the limit of 32 MiB", Public: "stopped when a stream passed the limit of 32 MiB"},
		},
		"the validator closes its output, listens on, and the submission crashes": {
			side{run: func(in *bufio.Reader, out io.WriteCloser) sandbox.TestResult {
				_ = out.Close()
				_, _ = io.Copy(io.Discard, in)
				return exited(43, "", "")
			}},
			side{run: func(*bufio.Reader, io.WriteCloser) sandbox.TestResult {
				time.Sleep(time.Second)
				return exited(1, "", "")
			}},
			grade.Finding{Verdict: grade.RE, Message: "exit code 1", Public: "exit code 1"},
		},
		"the validator fails": {
			side{run: func(*bufio.Reader, io.WriteCloser) sandbox.TestResult { return exited(1, "", "IndexError: x\n") }},
			side{run: count},
			grade.Finding{
				Verdict: grade.IE, Public: "internal error",
				Message: `output validator in fake: the output validator ended with exit code 1: want 42 for right or 43 for wrong; its stderr begins with "IndexError: x"`,
			},
		},
		"the validator hangs": {
			side{run: func(*bufio.Reader, io.WriteCloser) sandbox.TestResult {
				time.Sleep(60 * time.Second)
				return timedOut()
			}},
			side{run: func(*bufio.Reader, io.WriteCloser) sandbox.TestResult { time.Sleep(2 * time.Second); return timedOut() }},
			grade.Finding{Verdict: grade.IE, Public: "internal error", Message: "output validator in fake: the output validator failed: stopped at the wall-clock limit of 2 s"},
		},
		"a score of an accepted run that was too slow": {
			side{run: func(*bufio.Reader, io.WriteCloser) sandbox.TestResult { return accepting("score.txt", "3") }},
			side{run: func(*bufio.Reader, io.WriteCloser) sandbox.TestResult { return timedOut() }},
			grade.Finding{Verdict: grade.TLE, Message: "stopped at the wall-clock limit of 2 s", Public: "stopped at the wall-clock limit of 2 s"},
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				b := setup(t)
				p := b.talks("p", tt.submission)
				report := b.judged(t, p, interactive(b.talks("v", tt.validator), 2))
				require.Equal(t, tt.want, report.Tests[0].Finding)
			})
		})
	}
}

func TestAllTestsTalkWithOneValidatorSession(t *testing.T) {
	t.Parallel()
	b := setup(t)
	report := b.judged(t, b.talks("p", side{run: halve}), interactive(b.talks("v", side{run: host}), 5))
	require.Equal(t, "1=AC 2=AC 3=AC 4=AC 5=AC ", verdicts(report))
	require.Equal(t, 1, b.runner.startedOf("p"))
	require.Equal(t, 1, b.runner.startedOf("v"))
	require.Nil(t, b.runner.given["p"][0].Stdin, "the input is the validator's")
	request := b.runner.given["v"][0]
	require.Equal(t, []string{"/workspace/judge/input", "/workspace/judge/answer", "/workspace/judge/feedback/"}, request.Args)
	require.Equal(t, "1", string(request.Files[0].Data))
}

func TestLimitsOfAnInteraction(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		program, validator, test, want time.Duration
	}{
		"defaults":             {0, 0, 0, 60 * time.Second},
		"those asked for":      {2 * time.Second, 5 * time.Second, 0, 7 * time.Second},
		"the test's own":       {2 * time.Second, 5 * time.Second, 3 * time.Second, 8 * time.Second},
		"at most what is free": {10 * time.Minute, 10 * time.Minute, 0, 15 * time.Minute},
	} {
		b := setup(t)
		p, v := b.talks("p", side{run: halve}), b.talks("v", side{run: host})
		task := interactive(v, 1)
		for _, asked := range []struct {
			limit **sandbox.Seconds
			value time.Duration
		}{{&p.Limits.WallTime, tt.program}, {&task.Suite.Checker.Programs[0].Limits.WallTime, tt.validator}, {&task.Suite.Tests[0].WallTime, tt.test}} {
			if asked.value > 0 {
				*asked.limit = ptr(sandbox.Seconds(asked.value))
			}
		}
		require.Equal(t, grade.AC, b.judged(t, p, task).Verdict, name)
		require.Equal(t, sandbox.Seconds(tt.want), *b.runner.given["v"][0].WallTime, name)
		require.Equal(t, 32*sandbox.MiB, *b.runner.limits["p"].OutputKill)
		require.Equal(t, 32*sandbox.MiB, *b.runner.limits["v"].OutputKill)
	}
}

func TestALowerOutputLimitOfAnInteractionStays(t *testing.T) {
	t.Parallel()
	b := setup(t)
	p := b.talks("p", side{run: halve})
	p.Limits.OutputKill = ptr(8 * sandbox.MiB)
	b.judged(t, p, interactive(b.talks("v", side{run: host}), 1))
	require.Equal(t, 8*sandbox.MiB, *b.runner.limits["p"].OutputKill)
}

func TestAnInteractiveValidatorThatDoesNotCompile(t *testing.T) {
	t.Parallel()
	b := setup(t)
	v := b.behaves("v", behavior{whole: &sandbox.Result{Outcome: sandbox.OutcomeCompileError, Message: "compile: exited with code 1"}})
	report := b.judged(t, b.talks("p", side{run: count}), interactive(v, 2))
	require.Equal(t, "1=IE ", verdicts(report))
	require.Equal(t, "1: internal error: output validator in fake: the output validator failed: compile: exited with code 1", report.Message)
}

func TestNobodyHangsWhenOneSideOfAnInteractionIsLost(t *testing.T) {
	t.Parallel()
	waits := func(_ context.Context, test sandbox.Test) sandbox.TestResult {
		_, _ = io.Copy(io.Discard, test.Talk.Input)
		return exited(43, "", "")
	}
	lost := behavior{err: errBroken, run: waits}
	for name, tt := range map[string]struct {
		submission, validator behavior
		want                  string
	}{
		"the validator":  {behavior{run: waits}, lost, "output validator in fake: daemon gone"},
		"the submission": {lost, behavior{run: waits}, "judge: daemon gone"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) { // which tells of a deadlock
				b := setup(t)
				p, v := b.behaves("p", tt.submission), b.behaves("v", tt.validator)
				_, report, err := b.Judge.Judge(t.Context(), p, interactive(v, 1))
				require.ErrorIs(t, err, errBroken)
				require.ErrorContains(t, err, tt.want)
				require.Nil(t, report)
			})
		})
	}
}

func TestACanceledInteraction(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		b := setup(t)
		ctx, cancel := context.WithCancelCause(t.Context())
		defer cancel(nil)
		p := b.behaves("p", behavior{run: func(ctx context.Context, _ sandbox.Test) sandbox.TestResult {
			cancel(sandbox.ErrCanceled)
			<-ctx.Done()
			return sandbox.TestResult{}
		}})
		v := b.talks("v", side{run: host})
		result, report, err := b.Judge.Judge(ctx, p, interactive(v, 1))
		require.NoError(t, err)
		require.Nil(t, report)
		require.Equal(t, sandbox.OutcomeCanceled, result.Outcome)
		synctest.Wait()
		require.Equal(t, grade.AC, b.judged(t, b.talks("p", side{run: halve}), interactive(v, 1)).Verdict)
		require.Equal(t, 1, b.runner.startedOf("v"), "the validator saw the end and serves others")
	})
}

func TestASubmissionWaitsForItsValidatorWithoutLosingTime(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		b := setup(t)
		slow := compiling{b.runner, 10 * time.Second}
		j := New(Options{Runner: slow, Blobs: b.blobs})
		p := b.talks("p", side{run: halve})
		_, report, err := j.Judge(t.Context(), p, interactive(b.talks("v", side{run: host}), 1))
		require.NoError(t, err)
		require.Equal(t, grade.AC, report.Verdict)
		require.Zero(t, report.Tests[0].WallTime)
		require.NoError(t, j.Close(t.Context()))
	})
}

// compiling takes a while for validators.
type compiling struct {
	*fakeRunner
	takes time.Duration
}

func (c compiling) RunTests(ctx context.Context, p sandbox.Program, next func(*sandbox.TestResult) (sandbox.Test, bool)) (sandbox.Result, error) {
	if string(p.Source) == "v" {
		time.Sleep(c.takes)
	}
	return c.fakeRunner.RunTests(ctx, p, next)
}

func TestWhenASideEnded(t *testing.T) {
	t.Parallel()
	at := func(ms int) time.Time { return time.UnixMilli(int64(1_000_000 + ms)) }
	ms := func(n int) sandbox.Seconds { return sandbox.Seconds(time.Duration(n) * time.Millisecond) }
	closed := moment{at(500), 1}
	require.Equal(t, closed, endOf(at(0), closed, at(900), ms(450)), "with its output")
	require.Equal(t, closed, endOf(at(0), closed, at(900), ms(700)), "a little after it, in a slow sandbox")
	require.Equal(t, at(900), endOf(at(0), closed, at(900), ms(701)).at, "long after it")
	require.Equal(t, at(900), endOf(at(0), moment{}, at(900), ms(1)).at, "its output was never closed")

	require.True(t, closed.before(moment{at(501), 0}))
	require.True(t, closed.before(moment{at(500), 2}))
	require.False(t, closed.before(closed))
	require.False(t, closed.before(moment{at(499), 2}))
}
