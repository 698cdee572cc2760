//go:build attack

package attack_test

import (
	"debug/buildinfo"
	"flag"
	"os"
	"os/exec"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/docker/docker/api/types/system"
	"github.com/docker/docker/client"
	"github.com/stretchr/testify/require"

	"github.com/sandloop/sandloop/config"
	"github.com/sandloop/sandloop/internal/attack"
	"github.com/sandloop/sandloop/internal/sandbox/docker"
	"github.com/sandloop/sandloop/internal/testenv"
)

// tableFile and write name where the table goes, if anywhere.
var (
	tableFile = flag.String("table", "", "a file for the table of attacks")
	write     = flag.String("write", "", "the document between whose markers the table of attacks goes")
)

// mode is a way to run programs: what is changed of the usual options, and whether containers are used again.
type mode struct {
	attack.Mode
	reuse  bool
	change func(*docker.Options)
}

// modes are those of the table: each profile and runtime with containers that are thrown away, and with reuse. SANDLOOP_ATTACK=short is
// what a worker does unless it is told otherwise, alone.
func modes(t testing.TB, info system.Info) (all []mode) {
	t.Helper()
	ours, err := config.Default().Sandbox.SeccompProfile()
	require.NoError(t, err)
	usual := mode{Mode: attack.Mode{Name: "ours", Title: "runc, our profile"}, change: func(o *docker.Options) { o.Seccomp = ours }}
	if os.Getenv("SANDLOOP_ATTACK") == "short" {
		return []mode{usual}
	}
	for _, m := range []mode{
		{Mode: attack.Mode{Name: "docker", Title: "runc, Docker's profile"}},
		usual,
		{Mode: attack.Mode{Name: "runsc", Title: "runsc"}, change: func(o *docker.Options) { o.Runtime, o.Seccomp = "runsc", ours }},
	} {
		if _, there := info.Runtimes["runsc"]; m.Name == "runsc" && !there {
			m.Absent = "the Docker daemon has no such runtime"
		}
		again := m
		again.reuse, again.Name, again.Title = true, m.Name+"-reuse", m.Title+", reuse"
		if m.Name == "runsc" {
			again.Absent = "no container is used twice on gVisor"
		}
		all = append(all, m, again)
	}
	return all
}

// An attack that is not stopped fails the test, unless the manifest knows it with a reason.
func TestAttacks(t *testing.T) {
	testenv.Docker(t)
	attacks, err := attack.Load(os.DirFS(folder))
	require.NoError(t, err)
	through, err := client.NewClientWithOpts(client.FromEnv, client.WithAPIVersionNegotiation())
	require.NoError(t, err)
	defer func() { require.NoError(t, through.Close()) }()
	info, err := through.Info(t.Context())
	require.NoError(t, err)
	requireNames(t, attacks)

	report := &attack.Report{Versions: versions(t, through, info), Attacks: attacks, Cells: map[string]map[string]attack.Cell{}}
	var mu sync.Mutex
	for _, a := range attacks {
		report.Cells[a.Name] = map[string]attack.Cell{}
	}
	for _, m := range modes(t, info) {
		report.Modes = append(report.Modes, m.Mode)
		if m.Absent != "" {
			t.Logf("mode %s is not run: %s", m.Name, m.Absent)
			continue
		}
		t.Run(m.Name, func(t *testing.T) { // returns when all that is below has ended
			h := newHost(t)
			for _, a := range attacks {
				t.Run(a.Class+"/"+strings.ReplaceAll(a.Name, "/", "_"), func(t *testing.T) {
					t.Parallel()
					cell := try(t, &a, m, h)
					mu.Lock()
					report.Cells[a.Name][m.Name] = cell
					mu.Unlock()
					settle(t, &a, m, cell)
				})
			}
		})
	}
	publish(t, report)
}

// try runs an attack in a mode.
func try(t *testing.T, a *attack.Attack, m mode, h *host) attack.Cell {
	t.Helper()
	l := newLab(t, m, h)
	var beside *victim
	if a.Neighbour {
		beside = l.startVictim(t)
	}
	var problems []string
	if a.Check != "" {
		problems = checks[a.Check](t, l)
	} else {
		if m.Name == "runsc" {
			a = a.OnGVisor()
		}
		problems = l.attack(t, a)
	}
	if beside != nil {
		problems = append(problems, beside.visited()...)
	}
	if harm := append(l.close(t), h.harm(t)...); len(harm) > 0 {
		t.Errorf("%s: what it did outside of its sandbox is never known: %q", a.Name, harm)
		problems = append(problems, harm...)
	}
	if len(problems) > 0 {
		return attack.Cell{Verdict: attack.NotStopped, Why: strings.Join(problems, "; ")}
	}
	return attack.Cell{Verdict: attack.Stopped}
}

// settle fails the test if an attack is not stopped and the manifest does not know it.
func settle(t *testing.T, a *attack.Attack, m mode, cell attack.Cell) {
	t.Helper()
	reason := a.Known[m.Name]
	switch {
	case cell.Verdict == attack.NotStopped && reason == "":
		t.Errorf("%s: NOT STOPPED: %s", a.Name, cell.Why)
	case cell.Verdict == attack.NotStopped:
		t.Logf("%s: not stopped, as is known (%s): %s", a.Name, reason, cell.Why)
	case reason != "": // what depends on chance, or on the machine, may be known too
		t.Logf("%s: is stopped here, and the manifest says that it is not: %s", a.Name, reason)
	}
}

// requireNames compares the checks and modes that rows name with those that there are.
func requireNames(t *testing.T, attacks []attack.Attack) {
	t.Helper()
	var named, have []string
	for _, a := range attacks {
		if a.Check != "" {
			named = append(named, a.Check)
		}
		for name := range a.Known {
			require.Contains(t, []string{"docker", "docker-reuse", "ours", "ours-reuse", "runsc"}, name, "%s is known in a mode that there is not", a.Name)
		}
	}
	for name := range checks {
		have = append(have, name)
	}
	require.ElementsMatch(t, have, named)
}

// publish writes the table, and puts it into the document that -write names if all attacks were run.
func publish(t *testing.T, report *attack.Report) {
	t.Helper()
	table := report.Markdown()
	if *tableFile != "" {
		require.NoError(t, os.WriteFile(*tableFile, []byte(table), 0o644))
	}
	if *write == "" {
		return
	}
	for _, m := range report.Modes {
		for _, a := range report.Attacks {
			missing := m.Absent == "" && report.Cells[a.Name][m.Name].Verdict == attack.NotRun
			require.False(t, missing, "%s was not run in the mode %s: a part of the table is not written", a.Name, m.Name)
		}
	}
	document, err := os.ReadFile(*write)
	require.NoError(t, err)
	document, err = attack.Splice(document, table)
	require.NoError(t, err)
	require.NoError(t, os.WriteFile(*write, document, 0o644))
}

// versions name what is attacked.
func versions(t *testing.T, through *client.Client, info system.Info) string {
	t.Helper()
	version, err := through.ServerVersion(t.Context())
	require.NoError(t, err)
	names := []string{"Linux " + version.KernelVersion, "Docker " + version.Version}
	for _, component := range version.Components {
		if slices.Contains([]string{"containerd", "runc"}, component.Name) {
			names = append(names, component.Name+" "+strings.TrimPrefix(component.Version, "v"))
		}
	}
	names = append(names, "runsc "+runscVersion(info), "cgroup v"+info.CgroupVersion)
	if os.Geteuid() != 0 {
		names = append(names, "without a look at processes that outlive their container, since not root ran it")
	}
	return strings.Join(names, ", ")
}

// runscVersion is what the registered binary says, or else of which version of its module it was built.
func runscVersion(info system.Info) string {
	path := info.Runtimes["runsc"].Path
	if path == "" {
		return "not there"
	}
	out, err := exec.Command(path, "--version").Output() //nolint:noctx // ends by itself
	first, _, _ := strings.Cut(string(out), "\n")
	version, found := strings.CutPrefix(first, "runsc version ")
	if err == nil && found && version != "VERSION_MISSING" {
		return version
	}
	built, err := buildinfo.ReadFile(path)
	if err != nil {
		return "of an unknown version"
	}
	return built.Main.Version
}
