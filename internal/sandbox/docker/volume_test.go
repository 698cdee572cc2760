package docker

import (
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/docker/docker/api/types/volume"
	"github.com/stretchr/testify/require"

	"github.com/sandloop/sandloop/internal/testenv"
)

// ownInit makes a sandbox-init with a content, and so a volume, of its own.
func ownInit(t *testing.T) func(*Options) {
	t.Helper()
	content, err := os.ReadFile(testenv.InitPath(t))
	require.NoError(t, err)
	dir, err := os.OpenRoot(t.TempDir())
	require.NoError(t, err)
	defer func() { require.NoError(t, dir.Close()) }()
	require.NoError(t, dir.WriteFile("sandbox-init", append(content, t.Name()...), 0o600)) // bytes after the end of an ELF file do nothing
	path := filepath.Join(dir.Name(), "sandbox-init")
	return func(o *Options) { o.InitPath = path }
}

func TestVolumeThatWasRemovedIsFilledAgain(t *testing.T) {
	t.Parallel()
	b := setup(t, ownInit(t))
	name := b.InitVolumes()[0]
	require.NoError(t, b.docker.VolumeRemove(t.Context(), name, false))
	got := b.run(t, bash("echo healed"))
	require.Equal(t, "healed\n", string(got.Stdout.Data))
	inspected, err := b.docker.VolumeInspect(t.Context(), name)
	require.NoError(t, err)
	require.Equal(t, volumeLabels(b.installation), inspected.Labels, "Docker made it anew with our labels")
}

func TestVolumeThatIsEmptyIsFilled(t *testing.T) {
	t.Parallel()
	b := setup(t, ownInit(t))
	name := b.InitVolumes()[0]
	require.NoError(t, b.docker.VolumeRemove(t.Context(), name, false))
	_, err := b.docker.VolumeCreate(t.Context(), volume.CreateOptions{Name: name})
	require.NoError(t, err)
	require.Equal(t, "healed\n", string(b.run(t, bash("echo healed")).Stdout.Data))
}

func TestManyWorkersFillOneVolume(t *testing.T) {
	t.Parallel()
	first := setup(t, ownInit(t))
	name := first.InitVolumes()[0]
	require.NoError(t, first.docker.VolumeRemove(t.Context(), name, false))
	found, err := first.images.resolve(t.Context(), testenv.Image(t))
	require.NoError(t, err)
	var workers sync.WaitGroup
	for range 4 {
		workers.Go(func() {
			if err := first.fillVolume(t.Context(), found.id, first.onGVisor(first.options.Runtime)); err != nil {
				t.Error(err)
			}
		})
	}
	workers.Wait()
	require.Equal(t, "one\n", string(first.run(t, bash("echo one")).Stdout.Data))
}

// A file that a program can open is one that it can lock, and the volume is in every sandbox of the host.
func TestProgramsCannotOpenWhatAllSandboxesHaveInCommon(t *testing.T) {
	t.Parallel()
	b := setup(t, ownInit(t))
	got := b.run(t, bash(`stat -c '%a %u %n' /.sandloop /.sandloop/sandbox-init; for f in /.sandloop /.sandloop/sandbox-init; do exec 9<$f && echo opened $f; done`))
	require.Equal(t, "711 0 /.sandloop\n111 0 /.sandloop/sandbox-init\n", string(got.Stdout.Data))
	require.Equal(t, 2, strings.Count(string(got.Stderr.Data), "Permission denied"), "%s", got.Stderr.Data)
}

func TestReadInitRefuses(t *testing.T) {
	t.Parallel()
	built := testenv.InitPath(t)
	architecture := map[bool]string{true: "arm64", false: "amd64"}
	self, err := readInit(built, "unheard-of")
	require.NoError(t, err)
	require.Regexp(t, "^sandloop-init-[0-9a-f]{32}$", self.volume(false))
	require.Regexp(t, "^sandloop-init-[0-9a-f]{32}$", self.volume(true))
	require.NotEqual(t, self.volume(true), self.volume(false))
	_, err1 := readInit(built, architecture[true])
	_, err2 := readInit(built, architecture[false])
	require.NotEqual(t, err1 == nil, err2 == nil, "it is for one of the two: %v, %v", err1, err2)

	script := filepath.Join(t.TempDir(), "init.sh")
	require.NoError(t, os.WriteFile(script, []byte("#!/bin/sh\n"), 0o600))
	_, err = readInit(script, "amd64")
	require.ErrorContains(t, err, "is not a Linux program")
	_, err = readInit("/bin/ls", "unheard-of")
	require.ErrorContains(t, err, "CGO_ENABLED=0")
	_, err = readInit(filepath.Join(t.TempDir(), "absent"), "amd64")
	require.ErrorIs(t, err, os.ErrNotExist)
}

// A tenant's runtime can be of another kind than the usual one, and has its volume filled at start as well.
func TestEachKindOfRuntimeHasAVolume(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		usual string
		rules []string
		want  []string
	}{
		"runc":                 {"runc", nil, []string{"closed"}},
		"runc twice":           {"", []string{"runc"}, []string{"closed"}},
		"gVisor":               {"runsc", nil, []string{"open"}},
		"gVisor for some":      {"runc", []string{"runc", "runsc", "runsc-kvm"}, []string{"closed", "open"}},
		"gVisor for all but":   {"runsc", []string{"", "runc"}, []string{"open", "closed"}},
		"gVisor of the daemon": {"runsc-kvm", []string{"runsc"}, []string{"open"}},
	} {
		r := &Runner{
			options: Options{Runtime: tt.usual}, init: initBinary{closed: "closed", open: "open"},
			daemon: daemon{defaultRuntime: "runc", gVisor: map[string]bool{"runsc": true, "runsc-kvm": true}},
		}
		for _, runtime := range tt.rules {
			r.options.Runtimes = append(r.options.Runtimes, RuntimeRule{Runtime: runtime})
		}
		require.Equal(t, tt.want, r.InitVolumes(), name)
	}
}
