package cli_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/sandloop/sandloop/internal/cli"
)

func TestEveryErrorHasAnExitCode(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		err  error
		code int
		said string
	}{
		"none":                     {nil, 0, ""},
		"a code and nothing more":  {cli.ExitWith(7, nil), 7, ""},
		"a code below other words": {fmt.Errorf("run: %w", cli.ExitWith(7, errors.New("bad"))), 7, "agent: run: bad\n"},
		"the user's":               {cli.Usagef("--x: %d", 3), 2, "agent: --x: 3\n"},
		"an interrupt":             {fmt.Errorf("wait: %w", context.Canceled), 130, "agent: wait: context canceled\n"},
		"no reader":                {&cli.OutputError{Err: syscall.EPIPE}, 141, ""},
		"a full disk":              {&cli.OutputError{Err: syscall.ENOSPC}, 125, "agent: write output: no space left on device\n"},
		"anything else":            {errors.New("one\n\ntwo\x1b[2J"), 125, "agent: one\nagent: two^[[2J\n"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			require.Equal(t, c.code, cli.ExitCode(c.err))
			var stderr bytes.Buffer
			cli.Report(&stderr, "agent", c.err)
			require.Equal(t, c.said, stderr.String())
		})
	}
}
