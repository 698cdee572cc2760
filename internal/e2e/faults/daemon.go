package faults

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/sandloop/sandloop/internal/testenv"
)

const (
	// diskSize holds the runtime image twice. The file is sparse.
	diskSize = 4 << 30
	// daemonStart and daemonStop bound what a loaded machine may take.
	daemonStart = 2 * time.Minute
	daemonStop  = 90 * time.Second
)

// Daemon is a dockerd with its own containerd, data, socket and containers, beside whatever dockerd the machine has. It
// has no bridge and touches no iptables; the network is its own too, because a dockerd without a bridge removes that of others. It is safe for concurrent use.
type Daemon struct {
	// Host is the value of DOCKER_HOST with which a client finds it.
	Host string
	// Image is the runtime image that it has.
	Image string

	t       testing.TB
	dir     string
	cgroup  string
	space   *Process // keeps the namespaces; all in them ends with it
	inside  string   // the process id of the first process in them, as this process sees it
	mu      sync.Mutex
	process *Process
}

// namespaces is the first process of the namespaces. It must reap whatever loses its parent there. The disk is
// removed as soon as it is mounted, so that it is gone with the mount.
const namespaces = `set -e
read -r pid _ </proc/self/stat
mount --make-rprivate /
mount -t proc proc /proc
mkdir -p /run/containerd && mount -t tmpfs tmpfs /run/containerd
mount -o loop "$1" "$2"
rm "$1"
echo "inside $pid"
while :; do sleep 1000 & wait $!; done`

// StartDaemon starts a dockerd whose data is on a small disk of its own, with the runtime image of the machine's dockerd.
// Only one that has come up is returned; it is ended, and all of it removed, when the test is over.
func StartDaemon(t testing.TB) *Daemon {
	t.Helper()
	image := testenv.Image(t)
	if os.Geteuid() != 0 {
		testenv.Missing(t, "a dockerd of one's own needs root")
	}
	for _, tool := range []string{"dockerd", "unshare", "nsenter", "mkfs.ext4"} {
		if _, err := exec.LookPath(tool); err != nil {
			testenv.Missing(t, "%s is not on the PATH: run scripts/setup.sh docker", tool)
		}
	}
	dir, err := os.MkdirTemp("", "faults-") //nolint:usetesting // short, as the path of a socket must be
	if err != nil {
		t.Fatal(err)
	}
	removeStaleCgroups()
	d := &Daemon{
		Host: "unix://" + filepath.Join(dir, "docker.sock"), Image: image, t: t, dir: dir, cgroup: cgroupPrefix + strconv.Itoa(os.Getpid()),
	}
	t.Cleanup(d.end)
	if err := d.begin(); err != nil {
		t.Fatalf("private dockerd: %v", err)
	}
	return d
}

func (d *Daemon) begin() error {
	if err := d.unshare(); err != nil {
		return err
	}
	if err := d.Start(); err != nil {
		return err
	}
	return d.RestoreImage()
}

// unshare makes the disk and the namespaces.
func (d *Daemon) unshare() (err error) {
	disk, data := filepath.Join(d.dir, "disk"), filepath.Join(d.dir, "data")
	if err := errors.Join(os.WriteFile(disk, nil, 0o600), os.Truncate(disk, diskSize), os.Mkdir(data, 0o700)); err != nil {
		return err
	}
	if out, err := exec.Command("mkfs.ext4", "-q", "-F", "-m", "0", disk).CombinedOutput(); err != nil { //nolint:noctx,gosec // ends by itself
		return fmt.Errorf("mkfs.ext4: %w: %s", err, out)
	}
	d.space, err = launch("unshare", d.dir, os.Environ(), "--mount", "--pid", "--net", "--fork", "--kill-child=SIGKILL", "bash", "-c", namespaces, "sandloop-faults", disk, data)
	if err != nil {
		return err
	}
	for deadline := time.Now().Add(30 * time.Second); ; <-time.After(10 * time.Millisecond) {
		if _, pid, found := strings.Cut(d.space.Log.String(), "inside "); found && strings.Contains(pid, "\n") {
			d.inside = strings.TrimSpace(pid)
			return nil
		}
		if d.space.HasEnded() || time.Now().After(deadline) {
			return fmt.Errorf("no namespaces: %s", d.space.Log)
		}
	}
}

// enter is the command line of a program inside of the namespaces.
func (d *Daemon) enter(args ...string) []string {
	return append([]string{"nsenter", "--target", d.inside, "--mount", "--pid", "--net", "--"}, args...)
}

// run runs a program inside of the namespaces to its end.
func (d *Daemon) run(args ...string) error {
	line := d.enter(args...)
	if out, err := exec.Command(line[0], line[1:]...).CombinedOutput(); err != nil { //nolint:gosec,noctx // arguments are ours; ends by itself
		return fmt.Errorf("%s: %w: %s", args[0], err, out)
	}
	return nil
}

// Start starts the dockerd again, with the data that it had, and returns once it answers.
func (d *Daemon) Start() error {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.process != nil && !d.process.HasEnded() {
		return errors.New("start dockerd: it runs")
	}
	config := filepath.Join(d.dir, "daemon.json")
	if err := os.WriteFile(config, []byte("{}"), 0o600); err != nil { // not the machine's
		return err
	}
	d.clearStale()
	line := d.enter("dockerd", "--config-file", config, "--host", d.Host, "--data-root", filepath.Join(d.dir, "data"),
		"--exec-root", filepath.Join(d.dir, "exec"), "--pidfile", d.pidFile(), "--cgroup-parent", "/"+d.cgroup,
		"--bridge=none", "--iptables=false", "--ip6tables=false", "--no-new-privileges")
	process, err := launch(line[0], d.dir, os.Environ(), line[1:]...)
	if err != nil {
		return err
	}
	d.process = process
	for deadline := time.Now().Add(daemonStart); ; <-time.After(50 * time.Millisecond) {
		_, err := d.Docker("version", "--format", "{{.Server.Version}}")
		if err == nil {
			return nil
		}
		if process.HasEnded() || time.Now().After(deadline) {
			return fmt.Errorf("start dockerd: %w\n%s", err, tail(process.Log.String(), 4000))
		}
	}
}

func (d *Daemon) pidFile() string { return filepath.Join(d.dir, "docker.pid") }

// clearStale removes the pid files of a dockerd that was killed: it would wait for whoever has the number by now.
func (d *Daemon) clearStale() {
	_ = os.Remove(d.pidFile())
	pid := filepath.Join(d.dir, "exec", "containerd", "containerd.pid")
	if number, err := os.ReadFile(pid); err == nil && d.run("bash", "-c", `[[ $(</proc/$1/comm) == containerd ]]`, "_", strings.TrimSpace(string(number))) != nil { //nolint:gosec // our own file
		_ = os.Remove(pid)
	}
}

func tail(text string, size int) string { return text[max(0, len(text)-size):] }

// Stop asks the dockerd to end, as a service manager does, and returns once it has: its containers are stopped then.
func (d *Daemon) Stop() error { return d.signal("TERM") }

// Kill ends the dockerd at once. Its containerd and its containers go on, and the next one finds them.
func (d *Daemon) Kill() error { return d.signal("KILL") }

// Restart is Stop and Start.
func (d *Daemon) Restart() error {
	if err := d.Stop(); err != nil {
		return err
	}
	return d.Start()
}

func (d *Daemon) signal(name string) error {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.process == nil || d.process.HasEnded() {
		return nil
	}
	pid, err := os.ReadFile(d.pidFile())
	if err != nil {
		return fmt.Errorf("stop dockerd: %w", err)
	}
	if err := d.run("bash", "-c", `kill -"$1" "$2"`, "_", name, strings.TrimSpace(string(pid))); err != nil {
		return fmt.Errorf("stop dockerd: %w", err)
	}
	select {
	case <-d.process.Ended():
		return nil
	case <-time.After(daemonStop):
		return fmt.Errorf("dockerd did not end within %s of SIG%s\n%s", daemonStop, name, tail(d.process.Log.String(), 4000))
	}
}

// Docker runs the command line client and returns its trimmed output.
func (d *Daemon) Docker(args ...string) (string, error) {
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	cmd := exec.CommandContext(ctx, "docker", args...) //nolint:gosec // arguments are a test's
	cmd.Env = append(os.Environ(), "DOCKER_HOST="+d.Host, "DOCKER_CONTEXT=")
	out, err := cmd.CombinedOutput()
	if err != nil {
		return "", fmt.Errorf("docker %s: %w: %s", strings.Join(args, " "), err, strings.TrimSpace(string(out)))
	}
	return strings.TrimSpace(string(out)), nil
}

// FillDisk writes the disk full on which the dockerd has its data.
func (d *Daemon) FillDisk() error {
	return d.run("bash", "-c", `fallocate -l "$(df --output=avail -B1 "$1" | tail -n 1)" "$1/filler"
		dd if=/dev/zero of="$1/filler2" bs=4k 2>/dev/null; sync -f "$1"; true`, "_", filepath.Join(d.dir, "data"))
}

// EmptyDisk undoes FillDisk.
func (d *Daemon) EmptyDisk() error {
	data := filepath.Join(d.dir, "data")
	return d.run("rm", "-f", data+"/filler", data+"/filler2")
}

// RemoveImage takes the runtime image away with the containers that use it, without which only its name would go.
func (d *Daemon) RemoveImage() error {
	id, err := d.Docker("image", "inspect", "--format", "{{.Id}}", d.Image)
	if err != nil {
		return err
	}
	id = strings.TrimSpace(id)
	for deadline := time.Now().Add(10 * time.Second); time.Now().Before(deadline); {
		users, err := d.Docker("ps", "--all", "--quiet", "--filter", "ancestor="+id)
		if err != nil {
			return err
		}
		if len(strings.Fields(users)) > 0 {
			_, _ = d.Docker(append([]string{"rm", "--force"}, strings.Fields(users)...)...) // one may be gone already
		}
		_, _ = d.Docker("image", "rm", "--force", id) // workers go on making containers, so it takes some tries
		if _, err := d.Docker("image", "inspect", id); err != nil {
			return nil
		}
	}
	return fmt.Errorf("image %s is still there", d.Image)
}

// RestoreImage makes sure that the dockerd has the runtime image, which is copied from the machine's dockerd once.
func (d *Daemon) RestoreImage() error {
	id, err := exec.Command("docker", "image", "inspect", "--format", "{{.Id}}", d.Image).Output() //nolint:gosec,noctx // the machine's own; ends by itself
	if err != nil {
		return fmt.Errorf("inspect image %s: %w", d.Image, err)
	}
	name := strings.TrimPrefix(strings.TrimSpace(string(id)), "sha256:")
	if _, err := d.Docker("tag", name, d.Image); err == nil {
		return nil
	}
	return locked("image", func(dir string) error {
		archive := filepath.Join(dir, "image-"+name[:12]+".tar")
		if _, err := os.Stat(archive); err != nil {
			if err := saveImage(dir, archive, d.Image); err != nil {
				return err
			}
		}
		_, err := d.Docker("load", "--quiet", "--input", archive)
		return err
	})
}

// saveImage writes the archive in place of whatever older ones there are.
func saveImage(dir, archive, image string) error {
	older, _ := filepath.Glob(filepath.Join(dir, "image-*.tar*"))
	for _, path := range older {
		_ = os.Remove(path)
	}
	if out, err := exec.Command("docker", "save", "--output", archive+".part", image).CombinedOutput(); err != nil { //nolint:gosec,noctx // the machine's own; ends by itself
		return fmt.Errorf("save image %s: %w: %s", image, err, out)
	}
	return os.Rename(archive+".part", archive)
}

// Log is what the dockerd that was started last said.
func (d *Daemon) Log() string {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.process == nil {
		return ""
	}
	return d.process.Log.String()
}

func (d *Daemon) end() {
	if d.t.Failed() {
		d.t.Logf("private dockerd:\n%s", tail(d.Log(), 8000))
	}
	if err := d.Stop(); err != nil {
		d.t.Error(err)
	}
	if d.space != nil {
		_ = d.space.End(syscall.SIGKILL)
	}
	removeCgroups(d.cgroup)
	if err := os.RemoveAll(d.dir); err != nil {
		d.t.Errorf("private dockerd: %v", err)
	}
}
