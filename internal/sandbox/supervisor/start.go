package supervisor

import (
	"errors"
	"fmt"
	"os"
	"syscall"

	"github.com/sandloop/sandloop/internal/sandbox/wire"
)

// process is the main process of a step and the read ends of its outputs.
type process struct {
	pid            int
	stdout, stderr *os.File
}

// startError means that the command could not be executed, which is the job's own doing.
type startError struct{ err error }

func (e *startError) Error() string { return e.err.Error() }

// start executes a step's command in a session of its own, so that no signal to its group
// reaches this process. The child has descriptors 0, 1 and 2 and no other.
func (l launcher) start(step wire.Step, imageEnv []string, in *input, oom *oomFile) (p *process, err error) {
	env := mergeEnv(imageEnv, step.Env)
	path, err := lookPath(step.Argv[0], workspaceDir, env)
	if err != nil {
		return nil, &startError{err}
	}
	stdin, err := in.open(step.Stdin)
	if err != nil {
		return nil, fmt.Errorf("open stdin: %w", err)
	}
	defer func() { _ = stdin.Close() }()
	stdout, stdoutEnd, err := outputPipe()
	if err != nil {
		return nil, err
	}
	defer func() { _ = syscall.Close(stdoutEnd) }()
	stderr, stderrEnd, err := outputPipe()
	if err != nil {
		return nil, errors.Join(err, stdout.Close())
	}
	defer func() { _ = syscall.Close(stderrEnd) }()

	if err := oom.raise(); err != nil {
		return nil, errors.Join(err, stdout.Close(), stderr.Close())
	}
	pid := 0
	l.do(func() {
		pid, err = syscall.ForkExec(path, step.Argv, &syscall.ProcAttr{ //nolint:gosec // to run what the job says is the purpose
			Dir: workspaceDir, Env: env,
			Files: []uintptr{stdin.Fd(), uintptr(stdoutEnd), uintptr(stderrEnd)},
			Sys:   &syscall.SysProcAttr{Setsid: true},
		})
	})
	if err != nil {
		err = &startError{fmt.Errorf("%s: %w", step.Argv[0], err)}
	}
	if err := errors.Join(err, oom.lower()); err != nil {
		return nil, errors.Join(err, stdout.Close(), stderr.Close())
	}
	return &process{pid: pid, stdout: stdout, stderr: stderr}, nil
}

// outputPipe returns a read end for Go's poller and a blocking write end for the child.
func outputPipe() (*os.File, int, error) {
	var ends [2]int
	if err := syscall.Pipe2(ends[:], syscall.O_CLOEXEC); err != nil {
		return nil, 0, fmt.Errorf("make pipe: %w", err)
	}
	file, err := pollable(ends[0], "output")
	if err != nil {
		return nil, 0, errors.Join(err, syscall.Close(ends[0]), syscall.Close(ends[1]))
	}
	return file, ends[1], nil
}

// pollable makes a descriptor one that a goroutine waits for without occupying a thread.
func pollable(fd int, name string) (*os.File, error) {
	if err := syscall.SetNonblock(fd, true); err != nil {
		return nil, fmt.Errorf("make %s non-blocking: %w", name, err)
	}
	return os.NewFile(uintptr(fd), name), nil
}
