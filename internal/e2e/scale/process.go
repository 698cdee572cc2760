package scale

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"os/exec"
	"os/signal"
	"syscall"

	"github.com/sandloop/sandloop/internal/jobs"
)

// The first argument of a process that Start starts; the second is the JSON of what it is to be.
const (
	workersRole  = "workers"
	producerRole = "produce"
)

// IsChild tells from the arguments of a process whether Start started it; then RunChild is all it has to do.
func IsChild(args []string) bool {
	return len(args) == 3 && (args[1] == workersRole || args[1] == producerRole)
}

// RunChild does what a process is started for until that is done or a signal ends it, and returns its exit code.
func RunChild(args []string) int {
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGINT, syscall.SIGTERM)
	defer stop()
	log := slog.New(slog.NewTextHandler(os.Stderr, &slog.HandlerOptions{Level: slog.LevelWarn}))
	jobs.LogRedis(slog.New(slog.DiscardHandler))
	var err error
	switch spec := []byte(args[2]); args[1] {
	case workersRole:
		var workers Workers
		if err = json.Unmarshal(spec, &workers); err == nil {
			err = workers.Serve(ctx, os.Stdin, os.Stdout, log)
		}
	case producerRole:
		var producer Producer
		if err = json.Unmarshal(spec, &producer); err == nil {
			err = producer.Produce(ctx, os.Stdin, os.Stdout)
		}
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, args[1]+":", err)
		return 1
	}
	return 0
}

// Process is a process of workers or a producer. Its methods are for one goroutine.
type Process struct {
	command *exec.Cmd
	stdin   io.WriteCloser
	output  io.Closer
	stdout  *bufio.Reader
	ended   chan struct{}
}

// StartWorkers starts this same program as a process of workers, whose log goes to stderr. The kernel kills it if this
// process dies; the caller calls Kill.
func StartWorkers(workers Workers, stderr io.Writer) (*Process, error) {
	return start(workersRole, workers, stderr)
}

// StartProducer starts this same program as a producer, which waits for Ask.
func StartProducer(producer Producer, stderr io.Writer) (*Process, error) {
	return start(producerRole, producer, stderr)
}

func start(role string, what any, stderr io.Writer) (*Process, error) {
	spec, err := json.Marshal(what)
	if err != nil {
		return nil, err
	}
	program, err := os.Executable()
	if err != nil {
		return nil, err
	}
	command := exec.Command(program, role, string(spec)) //nolint:gosec,noctx // this same program; the caller ends it
	command.Stderr = stderr
	command.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
	stdin, err := command.StdinPipe()
	if err != nil {
		return nil, err
	}
	read, write, err := os.Pipe() // StdoutPipe would be closed by Wait before all is read
	if err != nil {
		return nil, err
	}
	command.Stdout = write
	err = command.Start()
	_ = write.Close()
	if err != nil {
		return nil, errors.Join(err, read.Close())
	}
	p := &Process{command: command, stdin: stdin, output: read, stdout: bufio.NewReader(read), ended: make(chan struct{})}
	go func() {
		_ = command.Wait()
		close(p.ended)
	}()
	return p, nil
}

// Ask has the process answer, and decodes its line into what answer points to.
func (p *Process) Ask(answer any) error {
	if err := p.Tell(); err != nil {
		return err
	}
	return p.Hear(answer)
}

// Tell sends the line on which a producer begins and workers answer.
func (p *Process) Tell() error {
	_, err := io.WriteString(p.stdin, "\n")
	return err
}

// Hear waits for the answer to Tell.
func (p *Process) Hear(answer any) error {
	line, err := p.stdout.ReadBytes('\n')
	if err != nil {
		return fmt.Errorf("hear process %d: %w", p.command.Process.Pid, err)
	}
	return json.Unmarshal(line, answer)
}

// Signal sends the process a signal. One that has ended is no error.
func (p *Process) Signal(signal os.Signal) error {
	if err := p.command.Process.Signal(signal); err != nil && !errors.Is(err, os.ErrProcessDone) {
		return err
	}
	return nil
}

// Ended is closed when the process has ended.
func (p *Process) Ended() <-chan struct{} { return p.ended }

// ExitCode is the exit code of a process that has ended, -1 after a signal.
func (p *Process) ExitCode() int { return p.command.ProcessState.ExitCode() }

// Kill ends the process, if it has not ended, and waits for its end.
func (p *Process) Kill() {
	_ = p.command.Process.Kill()
	<-p.ended
	_ = p.output.Close()
}
