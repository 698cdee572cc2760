package faults

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"syscall"
	"testing"
)

// Process is a program that a test runs. It is killed when the test is over, and by the kernel if the test process dies.
type Process struct {
	// Log has what it printed, on both streams.
	Log *Log

	cmd   *exec.Cmd
	ended chan struct{}
}

// startProcess starts a program with a session of its own, so that Ctrl-C reaches the test alone.
func startProcess(t testing.TB, name string, dir string, env []string, args ...string) *Process {
	t.Helper()
	p, err := launch(name, dir, env, args...)
	if err != nil {
		t.Fatalf("%s: %v", filepath.Base(name), err)
	}
	t.Cleanup(func() { _ = p.End(syscall.SIGKILL) })
	return p
}

func launch(name string, dir string, env []string, args ...string) (*Process, error) {
	p := &Process{Log: &Log{}, cmd: exec.Command(name, args...), ended: make(chan struct{})} //nolint:gosec,noctx // a test's own program; ended in Cleanup
	p.cmd.Dir, p.cmd.Env = dir, env
	p.cmd.Stdout, p.cmd.Stderr = p.Log, p.Log
	p.cmd.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL, Setsid: true}
	if err := p.cmd.Start(); err != nil {
		return nil, err
	}
	go func() {
		_ = p.cmd.Wait()
		close(p.ended)
	}()
	return p, nil
}

// PID is the process's id.
func (p *Process) PID() int { return p.cmd.Process.Pid }

// Signal sends a signal: SIGKILL, SIGTERM, SIGSTOP and SIGCONT are what a worker should withstand. The error is
// os.ErrProcessDone when the process has ended.
func (p *Process) Signal(signal syscall.Signal) error {
	if err := p.cmd.Process.Signal(signal); err != nil {
		return fmt.Errorf("send %s to process %d: %w", signal, p.PID(), err)
	}
	return nil
}

// End sends a signal, thaws the process if it is frozen, and returns once it has ended. One that has ended is a success.
func (p *Process) End(signal syscall.Signal) error {
	if err := p.cmd.Process.Signal(signal); err != nil && !isDone(err) {
		return fmt.Errorf("end process %d: %w", p.PID(), err)
	}
	_ = p.cmd.Process.Signal(syscall.SIGCONT)
	<-p.ended
	return nil
}

// Ended is closed when the process has ended.
func (p *Process) Ended() <-chan struct{} { return p.ended }

// HasEnded tells whether the process has ended.
func (p *Process) HasEnded() bool {
	select {
	case <-p.ended:
		return true
	default:
		return false
	}
}

// ExitCode is that of a process that has ended, -1 after a signal.
func (p *Process) ExitCode() int {
	<-p.ended
	return p.cmd.ProcessState.ExitCode()
}

func isDone(err error) bool { return errors.Is(err, os.ErrProcessDone) }
