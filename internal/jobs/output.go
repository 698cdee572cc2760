package jobs

import (
	"context"
	"strconv"
	"sync"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/sandloop/sandloop/internal/sandbox"
)

const (
	outputPause   = 20 * time.Millisecond // output waits that long for more
	outputBatch   = 16 << 10              // bytes with which it does not wait
	outputBacklog = 1 << 20               // bytes beyond which output is not sent
	outputEntries = 4096                  // entries that the stream keeps
	outputTTL     = 10 * time.Minute      // how long it is kept after the last entry
)

// The fields of an entry of the stream of a job's output: a piece of output has all but
// kind, the start of an attempt has kind and attempt, the end has kind.
const (
	outputKind    = "k"
	outputAttempt = "a"
	outputStep    = "s"
	outputStream  = "n"
	outputData    = "d"
	outputSealed  = "e" // in the place of data

	kindAttempt = "attempt"
	kindEnd     = "end"
)

// outputWriter sends the output of an attempt to a stream in Redis, for whoever follows.
// It is a courtesy: what cannot be sent is dropped, and the run never waits for it.
type outputWriter struct {
	store   *store
	id      string
	attempt int
	done    chan struct{}

	mu      sync.Mutex
	backlog []sandbox.Output
	size    int
	closed  bool
	more    chan struct{} // capacity 1
}

func newOutputWriter(ctx context.Context, s *store, id string, attempt int) *outputWriter {
	w := &outputWriter{store: s, id: id, attempt: attempt, done: make(chan struct{}), more: make(chan struct{}, 1)}
	go w.run(context.WithoutCancel(ctx)) // what is left is sent after the run, too
	return w
}

// write takes a piece of output. It joins what follows on the same stream.
func (w *outputWriter) write(output sandbox.Output) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.closed || w.size+len(output.Data) > outputBacklog {
		return
	}
	w.size += len(output.Data)
	if last := len(w.backlog) - 1; last >= 0 && w.backlog[last].Step == output.Step && w.backlog[last].Stream == output.Stream {
		w.backlog[last].Data = append(w.backlog[last].Data, output.Data...)
	} else {
		output.Data = append(sandbox.Bytes(nil), output.Data...)
		w.backlog = append(w.backlog, output)
	}
	if w.size >= outputBatch {
		notify(w.more)
	}
}

// close sends what is left.
func (w *outputWriter) close() {
	w.mu.Lock()
	w.closed = true
	w.mu.Unlock()
	notify(w.more)
	<-w.done
}

func (w *outputWriter) run(ctx context.Context) {
	defer close(w.done)
	w.send(ctx, map[string]any{outputKind: kindAttempt, outputAttempt: strconv.Itoa(w.attempt)})
	tick := time.NewTicker(outputPause)
	defer tick.Stop()
	for {
		select {
		case <-w.more:
		case <-tick.C:
		}
		w.mu.Lock()
		outputs, closed := w.backlog, w.closed
		w.backlog, w.size = nil, 0
		w.mu.Unlock()
		if len(outputs) > 0 {
			entries := make([]map[string]any, len(outputs))
			for i, output := range outputs {
				entries[i] = w.store.outputEntry(w.id, output)
			}
			w.send(ctx, entries...)
		}
		if closed {
			return
		}
	}
}

// outputEntry is a piece of output as an entry of the stream.
func (s *store) outputEntry(id string, output sandbox.Output) map[string]any {
	entry := map[string]any{outputStep: output.Step, outputStream: string(output.Stream)}
	if s.seals == nil {
		entry[outputData] = []byte(output.Data)
	} else {
		entry[outputSealed] = s.seals.Seal(s.outputPlace(id, output), output.Data)
	}
	return entry
}

// outputPlace is what a piece of output is sealed for.
func (s *store) outputPlace(id string, output sandbox.Output) string {
	return s.keys.output(id) + " " + output.Step + " " + string(output.Stream)
}

func (w *outputWriter) send(ctx context.Context, entries ...map[string]any) {
	ctx, cancel := context.WithTimeout(ctx, 2*time.Second)
	defer cancel()
	if err := appendOutput(ctx, w.store, w.id, entries...); err != nil {
		w.store.log.DebugContext(ctx, "output not sent", "job", w.id, "error", err)
	}
}

func appendOutput(ctx context.Context, s *store, id string, entries ...map[string]any) error {
	_, err := s.rdb.Pipelined(ctx, func(pipe redis.Pipeliner) error {
		for _, entry := range entries {
			pipe.XAdd(ctx, &redis.XAddArgs{Stream: s.keys.output(id), MaxLen: outputEntries, Approx: true, Values: entry})
		}
		pipe.PExpire(ctx, s.keys.output(id), outputTTL)
		return nil
	})
	return err
}

// endOutput tells followers that the job is done.
func endOutput(ctx context.Context, s *store, id string) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), 2*time.Second)
	defer cancel()
	if err := appendOutput(ctx, s, id, map[string]any{outputKind: kindEnd}); err != nil {
		s.log.DebugContext(ctx, "end of output not sent", "job", id, "error", err)
	}
}
