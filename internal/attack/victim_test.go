//go:build attack

package attack_test

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/sandloop/sandloop/internal/sandbox"
	"github.com/sandloop/sandloop/internal/testenv"
)

// victim is a sandbox beside that of an attack, which says who visits it.
type victim struct {
	cancel context.CancelCauseFunc
	ended  chan struct{}
	result sandbox.Result
	err    error
}

// startVictim returns once it can be visited.
func (l *lab) startVictim(t testing.TB) *victim {
	t.Helper()
	source, err := os.ReadFile(filepath.Join(folder, "shared/victim.py"))
	require.NoError(t, err)
	ctx, cancel := context.WithCancelCause(t.Context())
	v := &victim{cancel: cancel, ended: make(chan struct{})}
	ready := make(chan struct{})
	p := sandbox.Program{Language: "python", Source: source}
	p.Limits.WallTime = ptr(sandbox.Seconds(testenv.Scale(t, 3*time.Minute)))
	p.Limits.CPUTime = p.Limits.WallTime
	seen := []byte(nil)
	p.OnOutput = func(o sandbox.Output) {
		had := bytes.Contains(seen, []byte("ready\n"))
		if seen = append(seen, o.Data...); !had && bytes.Contains(seen, []byte("ready\n")) {
			close(ready)
		}
	}
	go func() {
		defer close(v.ended)
		v.result, v.err = l.Run(ctx, p)
	}()
	select {
	case <-ready:
	case <-v.ended:
		require.Fail(t, "the other sandbox ended", "%v %s %s", v.err, v.result.Message, v.result.Stderr.Data)
	}
	return v
}

// visited ends the sandbox and tells what it noticed.
func (v *victim) visited() []string {
	v.cancel(sandbox.ErrCanceled)
	<-v.ended
	if v.err != nil || v.result.Outcome != sandbox.OutcomeCanceled || string(v.result.Stdout.Data) != "ready\n" {
		return []string{fmt.Sprintf("the other sandbox: %s, %v: %.300q", v.result.Outcome, v.err, v.result.Stdout.Data)}
	}
	return nil
}
