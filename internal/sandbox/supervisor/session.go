package supervisor

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"runtime"
	"runtime/debug"
	"sync/atomic"
	"time"

	"github.com/sandloop/sandloop/internal/sandbox"
	"github.com/sandloop/sandloop/internal/sandbox/wire"
)

// Exit codes of sandbox-init when it ends before it has sent all.
const (
	exitWorkerGone = 3
	exitDeadline   = 4
)

// Run is the life of process 1: it says that it is ready, takes a job from stdin, runs it and reports on
// stdout, and after a job with Reuse takes the next one. It returns nil once everything is sent. The process exits at once,
// and with it everything in the sandbox, when stdin ends (the worker is gone) or when deadline has passed.
func Run(stdin, stdout *os.File, deadline time.Duration) error {
	if os.Getpid() != 1 {
		return errNotInit
	}
	coarsenTimers()
	time.AfterFunc(deadline, func() { os.Exit(exitDeadline) })
	// Two threads for Go code: one may stay in wait4 while the other moves output.
	runtime.GOMAXPROCS(2)
	debug.SetGCPercent(50)

	in, err := pollable(int(stdin.Fd()), "stdin")
	if err != nil {
		return err
	}
	out, err := pollable(int(stdout.Fd()), "stdout")
	if err != nil {
		return err
	}
	s := &session{in: wire.NewReader(bufio.NewReader(in)), out: wire.NewWriter(out), specs: make(chan arrival, 1)}
	if err := s.run(); err != nil {
		var unclean *uncleanError
		fault := wire.Fault{Message: err.Error(), Unclean: errors.As(err, &unclean)}
		err = errors.Join(err, s.out.WriteJSON(wire.TypeFault, fault), s.out.Release())
		if s.data != nil {
			s.data.discard()
		}
		return err
	}
	return nil
}

// session is the conversation with the worker, from job to job.
type session struct {
	in  *wire.Reader
	out *wire.Writer
	// data is what follows the spec or a test; nil before it and once a step can run.
	data *dataReader
	// frames are those of tests, from listen; nil without tests.
	frames chan arrival
	// specs has the next job's, from listen, which then listens no more.
	specs chan arrival
	// feed is that of the present or last test that talks.
	feed atomic.Pointer[feed]
}

func (s *session) run() error {
	oom, err := openOOM()
	if err != nil {
		return err
	}
	if err := harden(); err != nil {
		return err
	}
	group, err := findCgroup("/sys/fs/cgroup")
	if err != nil {
		return err
	}
	if group.gVisor, err = onGVisor(); err != nil {
		return err
	}
	launch, err := newLauncher()
	if err != nil {
		return err
	}
	if err := startThreads(wire.HeadroomPIDs); err != nil {
		return err
	}
	held, err := newReserve(group)
	if err != nil {
		return err
	}
	if err := s.out.WriteJSON(wire.TypeReady, wire.Ready{Version: wire.Version, Threads: wire.HeadroomPIDs}); err != nil {
		return err
	}
	kind, payload, err := s.in.Read()
	if errors.Is(err, io.EOF) {
		os.Exit(exitWorkerGone)
	}
	if err != nil {
		return fmt.Errorf("read spec: %w", err)
	}
	spec, err := s.readSpec(arrival{kind, payload})
	if err != nil {
		return err
	}
	limits, err := readEnforced(group)
	if err != nil {
		return err
	}
	if err := limits.verify(spec.Expect); err != nil {
		return err
	}
	// After the view, which has to show the filter that the runtime set.
	if err := guardThreads(); err != nil {
		return err
	}
	held.limit = limits.view.MemoryBytes
	r := &runner{launch: launch, group: group, oom: oom, out: s.out, imageEnv: imageEnv(os.Environ()), held: held}
	return s.serve(r, spec, limits)
}

// job runs one job to its End. The limits in force were found to be those that it expects.
func (s *session) job(r *runner, spec wire.Spec, view sandbox.KernelView, clean *cleaner) error {
	s.frames = nil
	if spec.Tests {
		s.frames = make(chan arrival)
	}
	in, err := s.place(spec)
	if err != nil {
		return err
	}
	r.canceled = make(chan struct{})
	go s.listen(r.canceled)
	if err := s.out.WriteJSON(wire.TypeStart, wire.Start{Kernel: view}); err != nil {
		return err
	}
	passed, err := s.steps(r, spec, in)
	if err == nil && passed && spec.Tests {
		err = s.tests(r, spec, clean)
	}
	if err := errors.Join(err, in.close()); err != nil {
		return err
	}
	refused, err := collect(workspaceDir, spec, s.out)
	if err != nil {
		return err
	}
	return errors.Join(s.out.WriteJSON(wire.TypeEnd, wire.End{Refused: refused}), s.out.Release())
}

// readSpec takes a job. From here on every frame is sealed with the job's key, and its data is due.
func (s *session) readSpec(first arrival) (spec wire.Spec, err error) {
	if first.kind != wire.TypeSpec {
		return spec, fmt.Errorf("read spec: frame %q came first", byte(first.kind))
	}
	if err := json.Unmarshal(first.payload, &spec); err != nil {
		return spec, fmt.Errorf("read spec: %w", err)
	}
	if len(spec.Key) != keyBytes {
		return spec, fmt.Errorf("read spec: key of %d bytes: want %d", len(spec.Key), keyBytes)
	}
	s.out.SetKey(spec.Key)
	if (len(spec.Steps) == 0 && !spec.Tests) || spec.StdinSize < 0 {
		return spec, fmt.Errorf("read spec: %d steps and %d bytes of stdin", len(spec.Steps), spec.StdinSize)
	}
	for _, step := range spec.Steps {
		if err := validate(step); err != nil {
			return spec, fmt.Errorf("read spec: %w", err)
		}
	}
	s.data = newDataReader(s.in, spec)
	return spec, nil
}

const keyBytes = 32

// ownMemory is what this process needs of the job's memory limit beside the job's input.
const ownMemory = 8 << 20

// place puts the job's files and stdin where its steps find them.
func (s *session) place(spec wire.Spec) (*input, error) {
	// What does not fit would get this process killed for the memory limit, without a word.
	needed := spec.StdinSize + ownMemory
	for _, file := range spec.Files {
		needed += file.Size
	}
	if needed > spec.Expect.MemoryBytes {
		return nil, fmt.Errorf("files and stdin of %d bytes do not fit into %d bytes of memory with /workspace of %d bytes",
			needed-ownMemory, spec.Expect.MemoryBytes, spec.Expect.WorkspaceBytes)
	}
	if err := placeFiles(workspaceDir, spec.Files, s.data); err != nil {
		return nil, err
	}
	in, err := newInput(s.data, spec.StdinSize)
	if err != nil {
		return nil, err
	}
	if len(s.data.rest) > 0 {
		return nil, fmt.Errorf("%d bytes of data more than the spec announced", len(s.data.rest))
	}
	s.data = nil
	return in, nil
}

// listen waits for a cancel, passes on what belongs to tests, and waits for the end of stdin,
// which means that the worker is gone: then all of this ends, also in the middle of a step. It ends with
// the next job's spec, which it passes on.
func (s *session) listen(canceled chan<- struct{}) {
	closed := false
	for {
		kind, payload, err := s.in.Read()
		if err != nil {
			os.Exit(exitWorkerGone)
		}
		switch {
		case kind == wire.TypeCancel && !closed:
			closed = true
			close(canceled)
		case kind == wire.TypeSpec:
			s.specs <- arrival{kind, payload}
			return
		case kind == wire.TypeInput || kind == wire.TypeInputEnd:
			// None, or one that is over, when the frame crossed with the end of its test.
			if feed := s.feed.Load(); feed != nil && feed.take(kind, payload) != nil {
				os.Exit(exitWorkerGone) // not a worker of ours
			}
		case kind != wire.TypeCancel && s.frames != nil && !closed: // after a cancel nobody takes them
			// A worker sends no test while one runs, so that this does not keep a cancel waiting.
			s.frames <- arrival{kind, payload}
		}
	}
}

// steps runs the job's steps until one fails, and tells whether none did.
func (s *session) steps(r *runner, spec wire.Spec, in *input) (passed bool, err error) {
	for _, step := range spec.Steps {
		report, err := r.run(step, in)
		if err != nil {
			return false, err
		}
		if err := s.out.WriteJSON(wire.TypeStep, report); err != nil {
			return false, err
		}
		if report.Failed() {
			return false, nil
		}
	}
	return true, nil
}
