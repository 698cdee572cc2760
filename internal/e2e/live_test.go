package e2e_test

import (
	"bufio"
	"os"
	"os/exec"
	"path/filepath"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"
)

// live reads a line of a program that goes on, presses Ctrl-C and sees the job canceled.
func live(t *testing.T, in *installation) {
	t.Helper()
	endless := in.file(t, "endless.py", "import time\nprint('first', flush=True)\nwhile True: time.sleep(1)")
	cmd := exec.Command(filepath.Join(bin, "enqueue"), "run", endless) //nolint:noctx // interrupted below
	cmd.Env, cmd.Dir = in.env, in.dir
	cmd.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
	stderr := &logBuffer{} // is read while it is written
	cmd.Stderr = stderr
	stdout, err := cmd.StdoutPipe()
	require.NoError(t, err)
	require.NoError(t, cmd.Start())
	line, err := bufio.NewReader(stdout).ReadString('\n')
	require.NoError(t, err, stderr.String())
	require.Equal(t, "first\n", line)
	require.NoError(t, cmd.Process.Signal(os.Interrupt))
	require.Error(t, cmd.Wait())
	require.Equal(t, 130, cmd.ProcessState.ExitCode(), stderr.String())
	require.Contains(t, stderr.String(), "enqueue: canceling job")
}

// files sends a file and a folder in and gets files of any bytes back.
func files(t *testing.T, in *installation) {
	t.Helper()
	in.file(t, "data/deep/bytes.bin", "\x00\xff\n")
	script := in.file(t, "copy.py", `
import os, shutil
os.makedirs("out/deep")
shutil.copy("data/deep/bytes.bin", "out/deep/copy.bin")
os.symlink("/etc/passwd", "out/link")
os.mkfifo("out/pipe")
print(open("named.txt").read(), end="")
`)
	in.file(t, "in.txt", "named\n")
	back := filepath.Join(in.dir, "back")
	got := in.enqueueIn(t, in.dir, "", "run", script, "--file", "data", "--file", "named.txt=in.txt", "--out", "out/**", "--out-dir", back)
	require.Equal(t, 0, got.code, got.stderr)
	require.Equal(t, "named\n", got.stdout)
	require.Contains(t, got.stderr, `file "out/link" does not come back`)
	require.Contains(t, got.stderr, `file "out/pipe" does not come back`)
	content, err := os.ReadFile(filepath.Join(back, "out/deep/copy.bin"))
	require.NoError(t, err)
	require.Equal(t, "\x00\xff\n", string(content))
	require.NoFileExists(t, filepath.Join(back, "out/link"))
}
