package main

import (
	"bytes"
	"io"

	"github.com/sandloop/sandloop/internal/cli"
	"github.com/sandloop/sandloop/internal/jobs"
	"github.com/sandloop/sandloop/internal/sandbox"
)

// output prints the streams of a program: live pieces as they come, and at the end from the
// stored result whatever did not come. It never prints a byte twice, so that a piece lost on the way
// or a job that ran again does no harm.
type output struct {
	streams map[string]*shown // by step and stream, such as run.stdout
	order   []string
	notes   io.Writer
	// failed is why no more can be printed.
	failed error
}

// shown is what has been printed of one stream.
type shown struct {
	title string
	w     io.Writer
	sent  []byte
	// at is how much of sent the attempt that is followed has written, too.
	at int
	// astray tells that the attempt wrote something else, so that nothing more is printed live.
	astray bool
}

// newOutput sends the program's stdout to stdout and all else, what a compiler says included, to stderr.
func newOutput(stdout, stderr io.Writer) *output {
	out, err := forProgram(stdout), forProgram(stderr)
	return &output{
		streams: map[string]*shown{
			"compile.stdout": {title: "compiler's stdout", w: err}, "compile.stderr": {title: "compiler's stderr", w: err},
			"run.stdout": {title: "stdout", w: out}, "run.stderr": {title: "stderr", w: err},
		},
		order: []string{"compile.stdout", "compile.stderr", "run.stdout", "run.stderr"},
		notes: stderr,
	}
}

// live prints a piece that has just been written by the program. When the job runs again, the
// new attempt's output is printed from where it goes beyond what is there already.
func (o *output) live(piece sandbox.Output) error {
	if piece.Step == jobs.StepAttempt {
		for _, stream := range o.streams {
			stream.at = 0
		}
		return nil
	}
	stream, known := o.streams[piece.Step+"."+string(piece.Stream)]
	if !known {
		return nil
	}
	if o.failed == nil {
		o.failed = stream.live(piece.Data)
	}
	return o.failed
}

func (s *shown) live(data []byte) error {
	overlap := min(len(data), len(s.sent)-s.at)
	s.astray = s.astray || !bytes.Equal(data[:overlap], s.sent[s.at:s.at+overlap])
	if s.astray {
		return nil
	}
	s.at += len(data)
	s.sent = append(s.sent, data[overlap:]...)
	_, err := s.w.Write(data[overlap:])
	return err
}

// finish prints what is missing of a result's streams.
func (o *output) finish(result sandbox.Result) error {
	if o.failed != nil {
		return o.failed
	}
	final := map[string]sandbox.Stream{"run.stdout": result.Stdout, "run.stderr": result.Stderr}
	if result.Compile != nil {
		final["compile.stdout"], final["compile.stderr"] = result.Compile.Stdout, result.Compile.Stderr
	}
	for _, name := range o.order {
		if err := o.finishStream(o.streams[name], final[name]); err != nil {
			return err
		}
	}
	return nil
}

func (o *output) finishStream(stream *shown, final sandbox.Stream) error {
	head, tail := []byte(final.Data), []byte(nil)
	if final.Truncated {
		head, tail = head[:final.CutAt], head[final.CutAt:]
	}
	switch {
	case bytes.HasPrefix(head, stream.sent):
		head = head[len(stream.sent):]
	case bytes.HasPrefix(stream.sent, head): // the result drops a character that was cut in two
		head = nil
	default:
		say(o.notes, "%s: what was printed so far is not all; the whole output follows", stream.title)
	}
	if _, err := stream.w.Write(head); err != nil {
		return err
	}
	if final.Truncated {
		say(o.notes, "%s: %d bytes were written and %d are kept; the end follows", stream.title, final.Total, len(final.Data))
	}
	if _, err := stream.w.Write(tail); err != nil {
		return err
	}
	if held, ok := stream.w.(*cli.Disarmer); ok {
		return held.Flush()
	}
	return nil
}
