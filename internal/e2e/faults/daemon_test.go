//go:build faults

package faults_test

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/sandloop/sandloop/internal/e2e/faults"
	"github.com/sandloop/sandloop/internal/testenv"
)

func TestADaemonOfOnesOwnCanBeBrokenAndMended(t *testing.T) {
	d := faults.StartDaemon(t)
	create := func() error {
		id, err := d.Docker("create", d.Image, "true")
		if err == nil {
			_, err = d.Docker("rm", id)
		}
		return err
	}
	require.NoError(t, create())

	id, err := d.Docker("run", "--detach", "--network", "none", d.Image, "sleep", "600")
	require.NoError(t, err)
	running := func() string {
		out, err := d.Docker("inspect", "--format", "{{.State.Running}}", id)
		require.NoError(t, err)
		return out
	}
	require.NoError(t, d.Kill())
	require.NoError(t, d.Start())
	require.NoError(t, d.Restart())
	require.Equal(t, "false", running(), "a restart stops containers")
	_, err = d.Docker("rm", "--force", id)
	require.NoError(t, err)

	require.NoError(t, d.FillDisk())
	require.ErrorContains(t, create(), "no space left")
	require.NoError(t, d.EmptyDisk())
	require.NoError(t, create())

	require.NoError(t, d.RemoveImage())
	require.Error(t, create())
	require.NoError(t, d.RestoreImage())
	require.NoError(t, create())
}

// childEnv makes the test below a process that is to be killed.
const childEnv = "SANDLOOP_FAULTS_TEST_CHILD"

func TestNothingOutlivesATestProcessThatIsKilled(t *testing.T) {
	if os.Getenv(childEnv) != "" {
		d := faults.StartDaemon(t)
		id, err := d.Docker("run", "--detach", "--network", "none", d.Image, "sleep", "98765")
		require.NoError(t, err)
		fmt.Println("child runs", d.Host, id)
		select {}
	}
	dir, err := os.MkdirTemp("", "faults-") //nolint:usetesting // short, as the path of a socket must be
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, os.RemoveAll(dir)) })
	child := exec.CommandContext(t.Context(), os.Args[0], "-test.run", t.Name())
	var said faults.Log
	child.Env = append(os.Environ(), childEnv+"=1", "TMPDIR="+dir)
	child.Stdout, child.Stderr = &said, &said
	require.NoError(t, child.Start())
	require.Eventually(t, func() bool { return strings.Contains(said.String(), "child runs") }, testenv.Scale(t, 3*time.Minute), 50*time.Millisecond, &said)
	require.NotEmpty(t, processesIn(dir))
	require.NotEmpty(t, disksIn(dir))
	require.NoError(t, child.Process.Signal(syscall.SIGKILL))
	_ = child.Wait()
	require.Eventually(t, func() bool { return len(processesIn(dir)) == 0 && len(disksIn(dir)) == 0 }, testenv.Scale(t, time.Minute), 100*time.Millisecond,
		"something goes on")
	faults.StartDaemon(t) // which removes the cgroups that were left
	for _, path := range []string{"/sys/fs/cgroup/", "/sys/fs/cgroup/*/"} {
		left, err := filepath.Glob(fmt.Sprintf("%ssandloop-faults-%d", path, child.Process.Pid))
		require.NoError(t, err)
		require.Empty(t, left)
	}
}

// processesIn lists the command lines that name the folder, and the program that the child's container runs.
func processesIn(dir string) (found []string) {
	lines, _ := filepath.Glob("/proc/[0-9]*/cmdline")
	for _, path := range lines {
		line, err := os.ReadFile(path)
		text := strings.ReplaceAll(string(line), "\x00", " ")
		if err == nil && (strings.Contains(text, dir) || strings.Contains(text, "sleep 98765")) && !strings.HasPrefix(text, os.Args[0]) {
			found = append(found, text)
		}
	}
	return found
}

// disksIn lists the loop devices whose file was in the folder.
func disksIn(dir string) (found []string) {
	files, _ := filepath.Glob("/sys/block/loop*/loop/backing_file")
	for _, path := range files {
		if file, err := os.ReadFile(path); err == nil && strings.HasPrefix(string(file), dir) {
			found = append(found, string(file))
		}
	}
	return found
}
