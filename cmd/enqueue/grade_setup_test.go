package main

import (
	"context"
	"fmt"
	"log/slog"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"
	"github.com/stretchr/testify/require"

	"github.com/sandloop/sandloop/internal/grade/judge"
	"github.com/sandloop/sandloop/internal/jobs"
	"github.com/sandloop/sandloop/internal/sandbox"
	"github.com/sandloop/sandloop/internal/testenv"
)

// scripted runs programs that say in words what they do, in the place of sandboxes:
//
//	print TEXT       print the text              sum   print the sum of the input's numbers
//	cpu SECONDS      take that much CPU time     at N  the rest is for inputs that begin with N
//	exit CODE        end with the code           broken  does not compile
//	lost             our machinery fails
type scripted struct {
	mu   sync.Mutex
	runs map[string]int // tests by the first line of the program
	seen []sandbox.Program
}

func (s *scripted) RunTests(_ context.Context, p sandbox.Program, next func(*sandbox.TestResult) (sandbox.Test, bool)) (sandbox.Result, error) {
	source := ""
	for _, file := range p.Files {
		if file.Path == p.Main {
			source = string(file.Data)
		}
	}
	first, _, _ := strings.Cut(source, "\n")
	s.mu.Lock()
	s.seen = append(s.seen, p)
	s.mu.Unlock()
	if strings.HasPrefix(source, "broken") {
		return sandbox.Result{Outcome: sandbox.OutcomeCompileError, Compile: &sandbox.Step{ExitCode: 1, Stderr: stream("no such word")}}, nil
	}
	if strings.HasPrefix(source, "lost") {
		return sandbox.Result{}, fmt.Errorf("the daemon is gone")
	}
	var previous *sandbox.TestResult
	for {
		test, more := next(previous)
		if !more {
			return sandbox.Result{Outcome: sandbox.OutcomeOK, OK: true}, nil
		}
		s.mu.Lock()
		s.runs[first]++
		s.mu.Unlock()
		result := runScript(source, string(test.Stdin), p.Limits.CPUTime.Duration())
		result.ID = test.ID
		previous = &result
	}
}

func runScript(source, input string, limit time.Duration) sandbox.TestResult {
	var out strings.Builder
	result := sandbox.TestResult{Outcome: sandbox.OutcomeOK, OK: true, CPUUser: sandbox.Seconds(10 * time.Millisecond), PeakMemory: 1 << 20}
	for _, line := range strings.Split(source, "\n") {
		word, rest, _ := strings.Cut(strings.TrimSpace(line), " ")
		switch word {
		case "at":
			if !strings.HasPrefix(input, rest) {
				result.Stdout = stream(out.String())
				return result
			}
		case "print":
			out.WriteString(rest + "\n")
		case "sum":
			total := 0
			for _, number := range strings.Fields(input) {
				value, _ := strconv.Atoi(number)
				total += value
			}
			fmt.Fprintln(&out, total)
		case "cpu":
			seconds, _ := strconv.ParseFloat(rest, 64)
			result.CPUUser = sandbox.Seconds(seconds * float64(time.Second))
			if time.Duration(result.CPUUser) > limit {
				result.CPUUser = sandbox.Seconds(limit)
				result.Outcome, result.OK, result.TimedOut, result.Message = sandbox.OutcomeCPUTimeout, false, true, "CPU time is over"
				return result
			}
		case "exit":
			result.ExitCode, _ = strconv.Atoi(rest)
			if result.ExitCode != 0 {
				result.Outcome, result.OK = sandbox.OutcomeNonzeroExit, false
			}
		}
	}
	result.Stdout = stream(out.String())
	return result
}

// tests is how many tests programs with that first line ran on.
func (s *scripted) tests(first string) int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.runs[first]
}

// total is how many tests were run at all.
func (s *scripted) total() (sum int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, runs := range s.runs {
		sum += runs
	}
	return sum
}

// setupGrading is a real Redis with a worker that judges scripted programs.
func setupGrading(t *testing.T) (*bench, *scripted) {
	t.Helper()
	b := &bench{redis: testenv.RedisServer(t), dir: t.TempDir()}
	programs := &scripted{runs: map[string]int{}}
	rdb := redis.NewClient(&redis.Options{Addr: b.redis})
	log := slog.New(slog.DiscardHandler)
	judging := judge.New(judge.Options{Runner: programs, Blobs: jobs.NewBlobs(rdb, "", 1<<20, nil, log), Log: log})
	worker, err := jobs.NewWorker(jobs.WorkerOptions{
		Redis: rdb, Runner: &fakeRunner{run: gives(okay(""))}, Judge: judging, Concurrency: 4, MaxAttempts: 1,
	})
	require.NoError(t, err)
	ctx, stop := context.WithCancel(context.Background())
	ended := make(chan error, 1)
	go func() { ended <- worker.Run(ctx) }()
	t.Cleanup(func() {
		stop()
		require.NoError(t, <-ended)
		require.NoError(t, judging.Close(context.Background()))
		require.NoError(t, rdb.Close())
	})
	return b, programs
}

// sumProblem is a package with three tests: 1 2, 3 4 and, if large, more than fits into a suite.
var sumProblem = map[string]string{
	"problem.yaml":      "name: Sum\nlimits: {time_limit: 2, time_multiplier: 2, time_safety_margin: 1.5}\n",
	"data/sample/1.in":  "1 2\n",
	"data/sample/1.ans": "3\n",
	"data/secret/1.in":  "3 4\n",
	"data/secret/1.ans": "7\n",
	"data/secret/2.in":  "5" + strings.Repeat(" 1", 1000) + "\n",
	"data/secret/2.ans": "1005\n",
}

// pack writes files below a folder and returns its path. An empty text removes a file.
func (b *bench) pack(t *testing.T, name string, layers ...map[string]string) string {
	t.Helper()
	merged := map[string]string{}
	for _, layer := range layers {
		for path, text := range layer {
			merged[path] = text
			if text == "" {
				delete(merged, path)
			}
		}
	}
	for path, text := range merged {
		b.file(t, filepath.Join(name, path), text)
	}
	return filepath.Join(b.dir, name)
}
