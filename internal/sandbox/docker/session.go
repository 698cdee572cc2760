package docker

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"time"

	"github.com/sandloop/sandloop/internal/sandbox"
	"github.com/sandloop/sandloop/internal/sandbox/wire"
)

// session is the conversation with one sandbox-init about one job.
type session struct {
	r       *wire.Reader
	w       *wire.Writer
	job     job
	release <-chan struct{} // closed when the input may go
	started func()          // called once, when user code is about to start
	spans   *stepSpans
	// expect is called with how long a test may take, and with 0 while none runs.
	expect func(time.Duration)
	// expires is when the container has no time for a further test.
	expires time.Time
	tests   chan *testCase // on their way to send; nil ends them

	// steps are those that reports are due on, which the tests of a series become too. They are receive's alone: send may still be at the spec.
	steps  []wire.Step
	report report
	file   *sandbox.File // being received
	left   int64         // bytes that file still lacks
}

// job is what a session sends.
type job struct {
	spec     wire.Spec
	files    []sandbox.File
	stdin    []byte
	onStart  func(sandbox.KernelView)
	onOutput func(sandbox.Output)
	// tests, if not nil, has what runs after the steps of the spec.
	tests *series
}

// empty tells whether nothing follows the spec.
func (j job) empty() bool {
	size := len(j.stdin)
	for _, file := range j.files {
		size += len(file.Data)
	}
	return size == 0
}

// report is what a session received, as far as it came.
type report struct {
	// start is nil until limits were verified; user code ran only after that.
	start *wire.Start
	steps []stepOutput
	files []sandbox.File
	end   *wire.End
	// early tells that the end came before the last step, or that one is said to have been canceled: right only after a cancel.
	early bool
	fault string
	// unclean tells that the test that was sent last did not begin.
	unclean bool
}

// stepOutput is what came from one step.
type stepOutput struct {
	// name is the step's, or empty after the last one.
	name string
	// report is nil when the stream ended before the step did.
	report       *wire.StepReport
	heads, tails [2][]byte
}

// errProtocol means that an authentic sandbox-init broke the rules, or that something
// that user code did made it look so.
var errProtocol = errors.New("protocol broken")

// send writes the spec and, when that is released, all input, and then tests. Without input the spec waits.
// It ends when the connection is closed.
func (s *session) send() error {
	if s.job.empty() {
		<-s.release
	}
	select {
	case <-s.release: // nothing to wait for
		s.w.Hold()
	default:
	}
	if err := s.w.WriteJSON(wire.TypeSpec, s.job.spec); err != nil {
		return err
	}
	<-s.release
	for _, file := range s.job.files {
		if err := s.sendBytes(file.Data); err != nil {
			return err
		}
	}
	if err := errors.Join(s.sendBytes(s.job.stdin), s.w.Release()); err != nil || s.tests == nil {
		return err
	}
	for test := range s.tests {
		if err := s.sendTest(test); err != nil {
			return err
		}
	}
	return nil
}

func (s *session) sendTest(test *testCase) error {
	if test == nil {
		return s.w.Write(wire.TypeFinish)
	}
	if err := s.w.WriteJSON(wire.TypeTest, test.test); err != nil {
		return err
	}
	for _, data := range test.data {
		if err := s.sendBytes(data); err != nil {
			return err
		}
	}
	return nil
}

func (s *session) sendBytes(data []byte) error {
	for len(data) > 0 {
		n := min(len(data), wire.ChunkSize)
		if err := s.w.Write(wire.TypeData, data[:n]); err != nil {
			return err
		}
		data = data[n:]
	}
	return nil
}

// receive reads frames until the end, a fault or an error of the stream, which is io.ErrUnexpectedEOF
// when it just stops. s.report holds what came, whatever is returned.
func (s *session) receive() error {
	s.steps = s.job.spec.Steps
	if s.tests != nil {
		defer close(s.tests)
	}
	for s.report.end == nil && s.report.fault == "" {
		kind, payload, err := s.r.Read()
		if errors.Is(err, io.EOF) {
			return io.ErrUnexpectedEOF
		}
		if err != nil {
			return err
		}
		if err := s.frame(kind, payload); err != nil {
			return fmt.Errorf("frame %c: %w", kind, err)
		}
	}
	return nil
}

func (s *session) frame(kind wire.Type, payload []byte) error {
	switch {
	case kind == wire.TypeFault:
		var fault wire.Fault
		if err := json.Unmarshal(payload, &fault); err != nil {
			return fmt.Errorf("%w: %w", errProtocol, err)
		}
		s.report.fault, s.report.unclean = cmp.Or(shortText(fault.Message), "no reason given"), fault.Unclean
		return nil
	case kind == wire.TypeStart && s.report.start == nil:
		s.report.start = new(wire.Start)
		s.report.steps = []stepOutput{{name: s.stepName(0)}}
		s.started()
		s.spans.begin(s.stepName(0))
		if err := checkStart(payload, s.report.start); err != nil {
			return err
		}
		if s.job.onStart != nil {
			s.job.onStart(s.report.start.Kernel)
		}
		if s.job.tests != nil && len(s.steps) == 0 {
			s.nextTest()
		}
		return nil
	case s.report.start == nil:
		return fmt.Errorf("%w: before the start", errProtocol)
	case s.file != nil && kind != wire.TypeData:
		return fmt.Errorf("%w: inside of file %q", errProtocol, s.file.Path)
	}
	switch kind {
	case wire.TypeOutput, wire.TypeTail:
		return s.output(kind, payload)
	case wire.TypeCredit, wire.TypeMore, wire.TypeOutputEnd:
		return s.talkFrame(kind, payload)
	case wire.TypeStep:
		return s.step(payload)
	case wire.TypeFile:
		return s.fileHeader(payload)
	case wire.TypeData:
		return s.fileData(payload)
	case wire.TypeEnd:
		end, err := readEnd(payload)
		s.report.end, s.report.early = end, err == nil && s.early()
		return err
	default:
		return fmt.Errorf("%w: of unknown type", errProtocol)
	}
}

func decode(payload []byte, target any) error {
	if err := json.Unmarshal(payload, target); err != nil {
		return fmt.Errorf("%w: %w", errProtocol, err)
	}
	return nil
}

// output keeps a piece of a stream. What is kept of head and tail together stays within
// the step's limit, whoever wrote it.
func (s *session) output(kind wire.Type, payload []byte) error {
	current := len(s.report.steps) - 1
	if current >= len(s.steps) || len(payload) == 0 || (payload[0] != wire.StreamStdout && payload[0] != wire.StreamStderr) {
		return fmt.Errorf("%w: of no stream of a step", errProtocol)
	}
	stream, data := int(payload[0]-wire.StreamStdout), payload[1:]
	step, spec := &s.report.steps[current], s.steps[current]
	if int64(len(step.heads[stream])+len(step.tails[stream])+len(data)) > spec.Output {
		return fmt.Errorf("%w: more output than is kept", errProtocol)
	}
	if kind == wire.TypeTail {
		step.tails[stream] = append(step.tails[stream], data...)
		return nil
	}
	step.heads[stream] = append(step.heads[stream], data...)
	if payload[0] == wire.StreamStdout {
		s.talking().write(data)
	}
	if s.job.onOutput != nil {
		name := [2]sandbox.StreamName{sandbox.Stdout, sandbox.Stderr}[stream]
		s.job.onOutput(sandbox.Output{Step: spec.Name, Stream: name, Data: data})
	}
	return nil
}

// talking is the talk of the test that runs, or nil.
func (s *session) talking() *talk {
	if tests := s.job.tests; tests != nil && tests.running {
		return tests.pending.talk
	}
	return nil
}

func (s *session) talkFrame(kind wire.Type, payload []byte) error {
	talking := s.talking()
	switch {
	case kind == wire.TypeCredit:
		return talking.grant(s.w, payload)
	case talking == nil || len(payload) == 0 || payload[0] != wire.StreamStdout:
		return fmt.Errorf("%w: of no test that talks", errProtocol)
	case kind == wire.TypeMore:
		talking.write(payload[1:])
	default:
		talking.closeOutput()
	}
	return nil
}

func (s *session) step(payload []byte) error {
	current := len(s.report.steps) - 1
	if current >= len(s.steps) {
		return fmt.Errorf("%w: more steps than were asked for", errProtocol)
	}
	s.report.steps[current].report = new(wire.StepReport)
	s.report.steps = append(s.report.steps, stepOutput{name: s.stepName(current + 1)})
	report := s.report.steps[current].report
	if err := checkStep(payload, s.report.steps[current].name, report); err != nil {
		return err
	}
	s.spans.end(*report)
	if !report.Failed() {
		s.spans.begin(s.stepName(current + 1))
	}
	if s.job.tests == nil {
		return nil
	}
	switch tests := s.job.tests; {
	case tests.running && report.Cause == wire.CauseCanceled:
	case tests.running:
		s.testDone()
		s.nextTest()
	case current == len(s.steps)-1 && !report.Failed():
		s.nextTest()
	}
	return nil
}

// testDone takes the last step out of the report, where only those of the spec pile up, and
// gives the series what became of it.
func (s *session) testDone() {
	last := len(s.report.steps) - 2
	done := report{start: s.report.start, steps: s.report.steps[last : last+1], files: s.report.files}
	result := resultOf(done, s.job.tests.pending.limits)
	result.RefusedFiles = s.report.steps[last].report.Refused
	s.job.tests.odd = s.job.tests.odd || odd(*s.report.steps[last].report)
	s.job.tests.done(result)
	s.report.files = nil
	s.report.steps = append(s.report.steps[:last:last], stepOutput{})
	s.steps = s.steps[:last:last]
}

// nextTest has the next test of the series sent, if there is one and the container has time for it.
func (s *session) nextTest() {
	s.expect(0)
	tests := s.job.tests
	test := tests.take()
	if test != nil && tests.ran > 0 && time.Now().Add(test.limits.WallTime+reportMargin).After(s.expires) {
		test, tests.spent = nil, true
	}
	if test == nil {
		s.expect(reportMargin)
	} else {
		tests.running = true
		s.steps = append(s.steps, test.test.Step)
		s.report.steps[len(s.report.steps)-1].name = test.test.Step.Name
		s.spans.begin(test.test.Step.Name)
		s.expect(test.limits.WallTime + reportMargin)
	}
	select {
	case s.tests <- test:
	default: // still busy with one, which nobody but a forger answers
	}
}

func (s *session) stepName(i int) string {
	if i < len(s.steps) {
		return s.steps[i].Name
	}
	return ""
}

func (s *session) fileHeader(payload []byte) error {
	var header wire.FileHeader
	if err := decode(payload, &header); err != nil {
		return err
	}
	left := s.job.spec.FileBytes
	for _, file := range s.report.files {
		left -= int64(len(file.Data))
	}
	switch {
	case header.Size < 0 || header.Size > left || len(s.report.files) >= s.job.spec.FilesOut:
		return fmt.Errorf("%w: more files than are allowed", errProtocol)
	case !fs.ValidPath(header.Path) || header.Path == "." || len(header.Path) > maxPathBytes:
		return fmt.Errorf("%w: %.100q is not the path of a file below the workspace", errProtocol, header.Path)
	}
	s.file = &sandbox.File{Path: header.Path, Executable: header.Executable, Data: make(sandbox.Bytes, 0, header.Size)}
	s.left = header.Size
	s.fileDone()
	return nil
}

func (s *session) fileData(payload []byte) error {
	if s.file == nil || int64(len(payload)) > s.left {
		return fmt.Errorf("%w: of no file", errProtocol)
	}
	s.file.Data = append(s.file.Data, payload...)
	s.left -= int64(len(payload))
	s.fileDone()
	return nil
}

func (s *session) fileDone() {
	if s.left == 0 {
		s.report.files = append(s.report.files, *s.file)
		s.file = nil
	}
}
