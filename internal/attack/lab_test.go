//go:build attack

package attack_test

import (
	"bytes"
	"context"
	"crypto/rand"
	"fmt"
	"io/fs"
	"log/slog"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/containerd/errdefs"
	"github.com/docker/docker/api/types/container"
	"github.com/docker/docker/api/types/filters"
	"github.com/docker/docker/client"
	"github.com/stretchr/testify/require"

	"github.com/sandloop/sandloop/config"
	"github.com/sandloop/sandloop/internal/attack"
	"github.com/sandloop/sandloop/internal/cli"
	"github.com/sandloop/sandloop/internal/sandbox"
	"github.com/sandloop/sandloop/internal/sandbox/docker"
	"github.com/sandloop/sandloop/internal/sandbox/labels"
	"github.com/sandloop/sandloop/internal/testenv"
)

const (
	// folder holds the attacks.
	folder = "../../attacks"
	// looker is the program that prints all that a program can see of those before it.
	looker = "../sandbox/docker/testdata/traces.py"
	// late is how much longer than its wall-clock limit a run may take.
	late = 5 * time.Second
)

// lab is a runner in one mode for one attack, and the host that is attacked.
type lab struct {
	*docker.Runner
	mode         mode
	host         *host
	docker       *client.Client
	installation string
	// mark is in the environment of the attack's processes and of no others, such as those of an attack that runs beside it.
	mark   string
	limits sandbox.Limits
}

// newLab makes a runner that is closed, and nothing of it left, when the test ends.
func newLab(t testing.TB, m mode, h *host) *lab {
	t.Helper()
	through, err := client.NewClientWithOpts(client.FromEnv, client.WithAPIVersionNegotiation())
	require.NoError(t, err)
	l := &lab{mode: m, host: h, docker: through, installation: "attack-" + rand.Text(), mark: "ATTACK_MARK=" + rand.Text(), limits: sandbox.DefaultLimits()}
	l.limits.WallTime = testenv.Scale(t, 20*time.Second)
	l.limits.CPUTime = l.limits.WallTime
	options := docker.Options{
		Languages: languages(t), Defaults: l.limits, Maxima: sandbox.DefaultMaxima(), InitPath: testenv.InitPath(t), AllowReuse: m.reuse,
		Worker: "attack", Installation: l.installation, Log: slog.New(slog.DiscardHandler),
	}
	if m.change != nil {
		m.change(&options)
	}
	l.Runner, err = docker.New(t.Context(), through, options)
	require.NoError(t, err)
	t.Cleanup(func() {
		require.Empty(t, l.close(t), "left over")
		require.NoError(t, through.Close())
	})
	return l
}

// languages are the product's own, on the test image, without the long time that compilers get there.
func languages(t testing.TB) *sandbox.Languages {
	t.Helper()
	table, err := config.Default().Languages()
	require.NoError(t, err)
	var rows []sandbox.Language
	for _, row := range table.All() {
		if slices.Contains([]string{"python", "node", "bash", "c", "cpp"}, row.Name) {
			row.Image, row.Floors.CompileTime = testenv.Image(t), 0
			rows = append(rows, row)
		}
	}
	table, err = sandbox.NewLanguages(rows)
	require.NoError(t, err)
	return table
}

// close ends the runner and tells what is left of it.
func (l *lab) close(t testing.TB) (problems []string) {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.WithoutCancel(t.Context()), testenv.Scale(t, time.Minute))
	defer cancel()
	if err := l.Close(ctx); err != nil {
		problems = append(problems, err.Error())
	}
	var left []string
	gone := func() bool {
		left = append(l.containers(ctx, t), l.survivors()...)
		return len(left) == 0
	}
	if !eventually(testenv.Scale(t, 20*time.Second), gone) {
		problems = append(problems, fmt.Sprintf("these are left: %q", left))
	}
	_ = l.docker.VolumeRemove(ctx, l.InitVolumes()[0], false) // another lab may use the same one
	return problems
}

// eventually asks until it holds, and tells whether it did in time.
func eventually(within time.Duration, holds func() bool) bool {
	for deadline := time.Now().Add(within); ; {
		if holds() {
			return true
		}
		if time.Now().After(deadline) {
			return false
		}
		<-time.After(20 * time.Millisecond)
	}
}

func (l *lab) containers(ctx context.Context, t testing.TB) (names []string) {
	t.Helper()
	ours := filters.NewArgs(filters.Arg("label", labels.Installation+"="+l.installation))
	list, err := l.docker.ContainerList(ctx, container.ListOptions{All: true, Filters: ours})
	require.NoError(t, err)
	for _, c := range list { // Docker 20.10 can go on listing one that is gone
		if _, err := l.docker.ContainerInspect(ctx, c.ID); !errdefs.IsNotFound(err) {
			names = append(names, "container "+c.ID)
		}
	}
	return names
}

// survivors are the processes on this machine that bear the mark. Only root sees those of other users.
func (l *lab) survivors() (found []string) {
	environments, err := filepath.Glob("/proc/[0-9]*/environ")
	if err != nil {
		return []string{err.Error()}
	}
	for _, name := range environments {
		if content, err := os.ReadFile(name); err == nil && bytes.Contains(content, []byte(l.mark)) {
			found = append(found, filepath.Dir(name))
		}
	}
	return found
}

// program makes the job of an attack.
func (l *lab) program(t testing.TB, a *attack.Attack) sandbox.Program {
	t.Helper()
	source, err := os.ReadFile(filepath.Join(folder, a.File()))
	require.NoError(t, err)
	p := sandbox.Program{
		ID: "attack-" + rand.Text(), Attempt: 1, Source: bytes.ReplaceAll(source, []byte("@CANARY@"), []byte(l.host.canary)),
		Args: l.arguments(a.Args), Outputs: a.Outputs, Env: map[string]string{}, Stdin: bytes.Repeat([]byte("unread\n"), 100_000),
	}
	name, value, _ := strings.Cut(l.mark, "=")
	p.Env[name] = value
	shared := map[string]string{".py": "python attack.py", ".sh": "bash ", ".c": "c attack.h", ".cpp": "cpp "}
	language, beside, known := strings.Cut(shared[path.Ext(a.Program)], " ")
	require.True(t, known, "%s: no language has this extension", a.Program)
	p.Language = language
	if beside != "" {
		content, err := os.ReadFile(filepath.Join(folder, "shared", beside))
		require.NoError(t, err)
		p.Files = []sandbox.File{{Path: beside, Data: content}}
	}
	p.Limits = overrides(t, a.Limits)
	return p
}

func (l *lab) arguments(templates []string) (args []string) {
	stand := map[string][]string{
		"{canary}": {l.host.canary}, "{addresses}": l.host.addresses, "{redis}": l.host.redis, "{name}": {l.host.container},
		"{socket}": {strings.TrimPrefix(l.docker.DaemonHost(), "unix://")},
	}
	for _, template := range templates {
		values, known := stand[template]
		if !known {
			values = []string{template}
		}
		args = append(args, values...)
	}
	return args
}

func overrides(t testing.TB, limits attack.Limits) (o sandbox.Overrides) {
	t.Helper()
	set := func(to **sandbox.Seconds, d time.Duration) {
		if d > 0 {
			*to = ptr(sandbox.Seconds(testenv.Scale(t, d)))
		}
	}
	set(&o.WallTime, limits.Wall)
	set(&o.CPUTime, limits.CPUTime)
	set(&o.CompileTime, limits.CompileWall)
	if limits.OutputKill > 0 {
		o.OutputKill = &limits.OutputKill
	}
	if limits.PIDs > 0 {
		o.PIDs = &limits.PIDs
	}
	return o
}

// attack runs a program and tells what is wrong with what was seen of it, in the result, on the host, and by the next program.
func (l *lab) attack(t testing.TB, a *attack.Attack) (problems []string) {
	t.Helper()
	p := l.program(t, a)
	var before string
	if l.mode.reuse {
		p.Reuse = p.ID
		before, _ = l.look(t, p.Reuse)
		require.True(t, eventually(testenv.Scale(t, 20*time.Second), func() bool { return l.Stats().Kept == 1 }), "the container is not kept")
	}
	result, err := l.Run(t.Context(), p)
	if err != nil {
		return []string{"our own machinery failed: " + err.Error()}
	}
	t.Logf("%s after %s: %s\n%.3000s%.1000s", result.Outcome, result.Duration.Duration(), result.Message, result.Stdout.Data, result.Stderr.Data)
	problems = append(append(a.Problems(result), l.leaks(result)...), written(t, result.Files)...)
	if limit := wallLimit(p, l.limits); result.Duration.Duration() > limit+testenv.Scale(t, late) {
		problems = append(problems, fmt.Sprintf("it ran for %s: want at most %s", result.Duration.Duration(), limit))
	}
	if result.Enforcement.Reused != l.mode.reuse {
		problems = append(problems, fmt.Sprintf("its container was used before: %v", result.Enforcement.Reused))
	}
	if l.mode.reuse {
		// A new container has nothing of the one before, and other numbers.
		after, reused := l.look(t, p.Reuse)
		t.Logf("the next program ran in the same container: %v", reused)
		if reused && after != before {
			problems = append(problems, "the next program sees "+difference(before, after))
		}
	}
	return problems
}

func wallLimit(p sandbox.Program, defaults sandbox.Limits) time.Duration {
	if p.Limits.WallTime != nil {
		return p.Limits.WallTime.Duration()
	}
	return defaults.WallTime
}

// leaks tells what came out of the sandbox that must not: the host's secret, files that are none, more than the limits.
func (l *lab) leaks(r sandbox.Result) (problems []string) {
	secret := func(where string, data []byte) {
		if bytes.Contains(data, []byte(l.host.token)) {
			problems = append(problems, "the host's secret is in "+where)
		}
	}
	secret("stdout", r.Stdout.Data)
	secret("stderr", r.Stderr.Data)
	if r.Compile != nil {
		secret("the compiler's output", append(slices.Clone(r.Compile.Stdout.Data), r.Compile.Stderr.Data...))
	}
	size := int64(0)
	for _, file := range r.Files {
		secret("the file "+file.Path, file.Data)
		size += int64(len(file.Data))
		if !filepath.IsLocal(file.Path) {
			problems = append(problems, fmt.Sprintf("a file came back as %q", file.Path))
		}
		if bytes.HasPrefix(file.Data, []byte("root:")) {
			problems = append(problems, "a file of the image came back through a link as "+file.Path)
		}
	}
	if len(r.Files) > l.limits.FilesOut || size > l.limits.FileBytes {
		problems = append(problems, fmt.Sprintf("%d files of %d bytes came back: want at most %d of %d",
			len(r.Files), size, l.limits.FilesOut, l.limits.FileBytes))
	}
	return problems
}

// written writes files as the command line does, and tells what is not below the chosen folder, and plain.
func written(t testing.TB, files []sandbox.File) (problems []string) {
	t.Helper()
	around := t.TempDir()
	below := filepath.Join(around, "a", "b", "out")
	err := cli.Folder{Path: below, Flag: "--out", Force: true}.Write(files, nil)
	count := 0
	require.NoError(t, filepath.WalkDir(around, func(name string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			return err
		}
		count++
		if !entry.Type().IsRegular() || !strings.HasPrefix(name, below+"/") {
			problems = append(problems, fmt.Sprintf("there is %q after its files were written", name))
		}
		return nil
	}))
	if err == nil && count != len(files) {
		problems = append(problems, fmt.Sprintf("%d files were written: want %d", count, len(files)))
	}
	return problems
}

// look is what a well-behaved program of the batch sees, and whether another had been in its container.
func (l *lab) look(t testing.TB, batch string) (seen string, reused bool) {
	t.Helper()
	source, err := os.ReadFile(looker)
	require.NoError(t, err)
	result, err := l.Run(t.Context(), sandbox.Program{Language: "python", Main: "traces.py", Source: source, Args: []string{"look"}, Reuse: batch})
	require.NoError(t, err)
	require.Equal(t, sandbox.OutcomeOK, result.Outcome, "the program after the attack: %s %s", result.Message, result.Stderr.Data)
	return string(result.Stdout.Data), result.Enforcement.Reused
}

// difference is the first line that is not the same.
func difference(before, after string) string {
	old, now := strings.Split(before, "\n"), strings.Split(after, "\n")
	for i := range max(len(old), len(now)) {
		if i >= len(old) || i >= len(now) || old[i] != now[i] {
			return fmt.Sprintf("%.200q instead of %.200q", now[min(i, len(now)-1)], old[min(i, len(old)-1)])
		}
	}
	return ""
}

func ptr[T any](v T) *T { return &v }
