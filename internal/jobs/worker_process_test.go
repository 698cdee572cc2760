package jobs

import (
	"bufio"
	"context"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"syscall"
	"testing"

	"github.com/redis/go-redis/v9"
	"github.com/stretchr/testify/require"

	"github.com/sandloop/sandloop/internal/grade"
	"github.com/sandloop/sandloop/internal/sandbox"
	"github.com/sandloop/sandloop/internal/workspace"
)

// workerProcessEnv makes the test binary a worker for the Redis at its value.
const workerProcessEnv = "JOBS_TEST_WORKER"

// workerProcess runs jobs that never end by themselves and prints what happens to them.
func workerProcess(addr string) {
	rdb := redis.NewClient(&redis.Options{Addr: addr})
	worker, err := NewWorker(WorkerOptions{ID: "child", Redis: rdb, Runner: printingRunner{}, Judge: printingRunner{}, Sessions: printingSessions{}, Concurrency: 4})
	if err == nil {
		err = worker.Run(context.Background())
	}
	fmt.Println("ended", err)
}

type printingRunner struct{}

func (printingRunner) Run(ctx context.Context, program sandbox.Program) (sandbox.Result, error) {
	fmt.Println("started", program.ID)
	<-ctx.Done()
	fmt.Println("canceled", program.ID, context.Cause(ctx))
	return okResult("late"), nil // it insists, and must not win
}

func (p printingRunner) Judge(ctx context.Context, program sandbox.Program, _ grade.Task) (sandbox.Result, *grade.Report, error) {
	result, err := p.Run(ctx, program)
	return result, &grade.Report{Verdict: grade.AC}, err
}

type printingSessions struct{ printingRunner }

func (p printingSessions) Run(ctx context.Context, job SessionJob) (sandbox.Result, *workspace.Report, error) {
	result, err := p.printingRunner.Run(ctx, job.Program)
	return result, nil, err
}

func (printingRunner) KillOlder(context.Context, string, int) error { return nil }

// child is a worker in a process of its own.
type child struct {
	t       *testing.T
	process *os.Process
	lines   chan string
}

func startChild(t *testing.T, addr string) *child {
	t.Helper()
	command := exec.Command(os.Args[0]) //nolint:noctx // this test binary; killed in Cleanup
	command.Env = append(os.Environ(), workerProcessEnv+"="+addr)
	command.Stderr = os.Stderr
	command.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
	output, err := command.StdoutPipe()
	require.NoError(t, err)
	require.NoError(t, command.Start())
	c := &child{t: t, process: command.Process, lines: make(chan string, 100)}
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		for lines := bufio.NewScanner(output); lines.Scan(); {
			c.lines <- lines.Text()
		}
		_ = command.Wait()
	}()
	t.Cleanup(func() { _ = c.process.Kill(); <-ended })
	return c
}

func (c *child) signal(signal os.Signal) {
	c.t.Helper()
	require.NoError(c.t, c.process.Signal(signal))
}

// expect reads lines until each of the wanted ones came.
func (c *child) expect(wanted ...string) {
	c.t.Helper()
	missing := map[string]bool{}
	for _, line := range wanted {
		missing[line] = true
	}
	for len(missing) > 0 {
		line := receive(c.t, c.lines)
		require.True(c.t, missing[line], "unexpected %q, still missing %s", line, strings.Join(wanted, ", "))
		delete(missing, line)
	}
}
