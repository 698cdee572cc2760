package e2e_test

import (
	"fmt"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// stream is a number of people who each run one program after the other from the command line.
type stream struct {
	stop    chan struct{}
	running sync.WaitGroup

	mu   sync.Mutex
	runs map[string]ran // by what the program was to print
}

func (in *installation) startStream(t *testing.T, people int) *stream {
	t.Helper()
	program := in.file(t, "short.sh", "sleep 0.2\necho done $1\n")
	s := &stream{stop: make(chan struct{}), runs: map[string]ran{}}
	for person := range people {
		s.running.Go(func() {
			for n := 0; ; n++ {
				select {
				case <-s.stop:
					return
				default:
				}
				name := fmt.Sprintf("%d-%d", person, n)
				got := in.enqueue(t, "run", "--queue", "default", program, "--", name)
				s.mu.Lock()
				s.runs["done "+name+"\n"] = got
				s.mu.Unlock()
			}
		})
	}
	t.Cleanup(func() { s.end() })
	return s
}

// end lets the runs that are under way end and returns all of them.
func (s *stream) end() map[string]ran {
	select {
	case <-s.stop:
	default:
		close(s.stop)
	}
	s.running.Wait()
	return s.runs
}

// waitFor waits for so many more runs to end.
func (s *stream) waitFor(t *testing.T, more int) {
	t.Helper()
	count := func() int { s.mu.Lock(); defer s.mu.Unlock(); return len(s.runs) }
	wanted := count() + more
	require.Eventually(t, func() bool { return count() >= wanted }, 3*bound, 50*time.Millisecond, "%d more runs", more)
}

// One worker becomes four and then one again, with a steady stream of programs in real containers.
func TestWorkersComeAndGoWhileProgramsRun(t *testing.T) {
	in := newInstallation(t)
	small := []string{"SANDLOOP_WORKER_CONCURRENCY=2", "SANDLOOP_SANDBOX_POOL_SIZE=1"}
	workers := []*worker{in.startWorker(t, small...)}
	s := in.startStream(t, 12)
	s.waitFor(t, 2)
	for range 3 {
		workers = append(workers, in.startWorker(t, small...))
	}
	require.Eventually(t, func() bool { return len(in.resultsPerWorker(t)) == 4 }, 3*bound, 200*time.Millisecond, "every worker gets work")
	require.NoError(t, workers[1].process.Process.Signal(syscall.SIGTERM))
	require.Equal(t, 0, workers[1].requireEnd(t), workers[1].log.String())
	require.NoError(t, workers[2].process.Process.Signal(syscall.SIGKILL))
	require.Equal(t, -1, workers[2].requireEnd(t))
	s.waitFor(t, 8)
	require.NoError(t, workers[3].process.Process.Signal(syscall.SIGTERM))
	require.Equal(t, 0, workers[3].requireEnd(t), workers[3].log.String())
	s.waitFor(t, 2)
	runs := s.end()
	for wanted, run := range runs {
		require.Equal(t, 0, run.code, "%s: %s", wanted, run.stderr)
		require.Equal(t, wanted, run.stdout)
	}
	perWorker, total := in.resultsPerWorker(t), 0
	for _, count := range perWorker {
		total += count
	}
	require.Equal(t, len(runs), total, "each run has one result")
	t.Logf("%d programs, each with one result; by worker: %v", len(runs), perWorker)
}

// resultsPerWorker counts the stored results by the worker that gave them.
func (in *installation) resultsPerWorker(t *testing.T) map[string]int {
	t.Helper()
	counts := map[string]int{}
	keys := in.redis.Scan(t.Context(), 0, "sandloop:{*}:result", 1000).Iterator()
	for keys.Next(t.Context()) {
		state := keys.Val()[:len(keys.Val())-len("result")] + "state"
		owner, err := in.redis.HGet(t.Context(), state, "owner").Result()
		require.NoError(t, err)
		counts[owner]++
	}
	require.NoError(t, keys.Err())
	return counts
}
