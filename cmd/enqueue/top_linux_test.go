package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"

	"github.com/sandloop/sandloop/internal/embedded"
)

// terminal is a pseudo terminal: what a program writes to slave is kept, and what is typed it reads there.
type terminal struct {
	master, slave *os.File

	mu    sync.Mutex
	shown bytes.Buffer
	ended chan struct{}
}

func openTerminal(t *testing.T, columns, rows uint16) *terminal {
	t.Helper()
	master, err := os.OpenFile("/dev/ptmx", os.O_RDWR|unix.O_NOCTTY, 0)
	require.NoError(t, err)
	var number int
	control(t, master, func(fd int) error {
		if err := unix.IoctlSetPointerInt(fd, unix.TIOCSPTLCK, 0); err != nil {
			return err
		}
		if number, err = unix.IoctlGetInt(fd, unix.TIOCGPTN); err != nil {
			return err
		}
		return unix.IoctlSetWinsize(fd, unix.TIOCSWINSZ, &unix.Winsize{Row: rows, Col: columns})
	})
	slave, err := os.OpenFile(fmt.Sprintf("/dev/pts/%d", number), os.O_RDWR|unix.O_NOCTTY, 0)
	require.NoError(t, err)
	term := &terminal{master: master, slave: slave, ended: make(chan struct{})}
	go func() {
		defer close(term.ended)
		_, err := io.Copy(term, master)
		if err != nil && !errors.Is(err, unix.EIO) && !errors.Is(err, os.ErrClosed) { // EIO: nobody has the slave any more
			panic(err)
		}
	}()
	t.Cleanup(func() {
		_ = slave.Close()
		_ = master.Close()
		<-term.ended
	})
	return term
}

// control does something with a file's descriptor and leaves it as it is, so that reads can be ended.
func control(t *testing.T, file *os.File, do func(fd int) error) {
	t.Helper()
	raw, err := file.SyscallConn()
	require.NoError(t, err)
	var failed error
	require.NoError(t, raw.Control(func(fd uintptr) { failed = do(int(fd)) }))
	require.NoError(t, failed)
}

func (p *terminal) Write(data []byte) (int, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.shown.Write(data)
}

// expect waits until something is shown that was not before it was last called.
func (p *terminal) expect(t *testing.T, text string) {
	t.Helper()
	require.Eventually(t, func() bool {
		p.mu.Lock()
		defer p.mu.Unlock()
		at := bytes.Index(p.shown.Bytes(), []byte(text))
		if at >= 0 {
			p.shown.Next(at + len(text))
		}
		return at >= 0
	}, patience, pollEvery, "%q is not shown", text)
}

func (p *terminal) press(t *testing.T, keys string) {
	t.Helper()
	_, err := io.WriteString(p.master, keys)
	require.NoError(t, err)
}

func (p *terminal) modes(t *testing.T) (modes unix.Termios) {
	t.Helper()
	control(t, p.master, func(fd int) error {
		got, err := unix.IoctlGetTermios(fd, unix.TCGETS)
		if err == nil {
			modes = *got
		}
		return err
	})
	return modes
}

// Redis comes up only when top has been looking for it for a while.
func TestTopOnATerminal(t *testing.T) {
	t.Parallel()
	ctx := context.Background()
	server, err := embedded.Start(ctx, "127.0.0.1:0", slog.New(slog.DiscardHandler))
	require.NoError(t, err)
	addr := server.Addr()
	server.Close()
	term := openTerminal(t, 100, 30)
	before := term.modes(t)
	var stderr bytes.Buffer
	ended := make(chan error, 1)
	go func() {
		ended <- run(ctx, []string{"--config", os.DevNull, "--redis", addr, "top"}, term.slave, term.slave, &stderr)
	}()
	term.expect(t, "Redis does not answer")
	require.NotEqual(t, before.Lflag, term.modes(t).Lflag, "keys come one by one")
	server, err = embedded.Start(ctx, addr, slog.New(slog.DiscardHandler))
	require.NoError(t, err)
	defer server.Close()
	term.expect(t, "interactive")
	term.expect(t, "no worker is running")
	term.press(t, "\x1b[B")
	term.expect(t, "default")
	term.press(t, "s")
	term.expect(t, "name")
	term.press(t, "q")
	select {
	case err := <-ended:
		require.NoError(t, err, stderr.String())
	case <-t.Context().Done():
		require.FailNow(t, "top did not end")
	}
	term.expect(t, "\x1b[?1049l")
	require.Equal(t, before, term.modes(t), "the terminal is as it was")
	require.Empty(t, stderr.String())
}
