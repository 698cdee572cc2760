package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/sandloop/sandloop/config"
	"github.com/sandloop/sandloop/internal/sandbox"
	"github.com/sandloop/sandloop/internal/testenv"
)

func TestACheckOfARealImageFindsEverythingAsAsked(t *testing.T) {
	t.Parallel()
	code, stdout, said := runNow(t, onDocker(t), "check", "-l", "bash", "-l", "python", "--json")
	require.Equal(t, 0, code, said+stdout)
	var report checkReport
	require.NoError(t, json.Unmarshal([]byte(stdout), &report))
	require.True(t, report.OK)
	require.Len(t, report.Images, 1)
	require.Greater(t, len(report.Images[0].Controls), 40)
	require.Len(t, report.Languages, 2)
	for _, language := range report.Languages {
		require.Equal(t, "42", language.Output)
		require.NotEqual(t, "unknown", language.Version)
	}
	requireNoContainers(t, checkInstallation)
}

// goodView is what the kernel says under the default limits.
func goodView() sandbox.KernelView {
	return sandbox.KernelView{
		MemoryBytes: 256 << 20, CPUs: 0.5, PIDs: 64, TmpBytes: 64 << 20, WorkspaceBytes: 128 << 20, RootReadOnly: true,
		UID: 65534, GID: 65534, Capabilities: "0000000000000000", NoNewPrivs: true, Seccomp: 2, OpenFiles: 1024,
	}
}

func differing(controls []control) (names []string) {
	for _, c := range controls {
		if !c.OK {
			names = append(names, c.Name)
		}
	}
	return names
}

func TestEachDifferenceInTheKernelsViewIsFound(t *testing.T) {
	t.Parallel()
	require.Empty(t, differing(kernelControls(sandbox.DefaultLimits(), goodView())))
	for name, change := range map[string]func(*sandbox.KernelView){
		"memory":             func(v *sandbox.KernelView) { v.MemoryBytes++ },
		"swap":               func(v *sandbox.KernelView) { v.SwapBytes = 1 },
		"processors":         func(v *sandbox.KernelView) { v.CPUs = 2 },
		"processes":          func(v *sandbox.KernelView) { v.PIDs = 65 },
		"size of /tmp":       func(v *sandbox.KernelView) { v.TmpBytes = 0 },
		"size of /workspace": func(v *sandbox.KernelView) { v.WorkspaceBytes *= 2 },
		"open files":         func(v *sandbox.KernelView) { v.OpenFiles = 1 << 20 },
		"core dumps":         func(v *sandbox.KernelView) { v.CoreBytes = -1 },
		"root file system":   func(v *sandbox.KernelView) { v.RootReadOnly = false },
		"user and group":     func(v *sandbox.KernelView) { v.UID = 0 },
		"capabilities":       func(v *sandbox.KernelView) { v.Capabilities = "00000000a80425fb" },
		"new privileges":     func(v *sandbox.KernelView) { v.NoNewPrivs = false },
		"seccomp":            func(v *sandbox.KernelView) { v.Seccomp = 0 },
		"network interfaces": func(v *sandbox.KernelView) { v.Interfaces = []string{"eth0"} },
	} {
		view := goodView()
		change(&view)
		require.Equal(t, []string{name}, differing(kernelControls(sandbox.DefaultLimits(), view)))
	}
	unread := goodView()
	unread.Capabilities = ""
	require.Equal(t, []string{"capabilities"}, differing(kernelControls(sandbox.DefaultLimits(), unread)))
}

// goodProbe is what probe.sh writes in a sandbox that is right.
func goodProbe() string {
	var lines strings.Builder
	for _, attempt := range attempts {
		lines.WriteString(attempt.fact + "=" + attempt.asked + "\n")
	}
	lines.WriteString("status Uid:=65534\t65534\t65534\t65534\nstatus Gid:=65534\t65534\t65534\t65534\nstatus NoNewPrivs:=1\nstatus Seccomp:=2\n")
	for _, set := range []string{"Inh", "Prm", "Eff", "Bnd", "Amb"} {
		lines.WriteString("status Cap" + set + ":=0000000000000000\n")
	}
	return lines.String() + "env=PATH=/bin\nenv=HOSTNAME=sandbox\n"
}

func TestEachDifferenceThatAProgramSeesIsFound(t *testing.T) {
	t.Parallel()
	outside := []string{"PATH=/bin", "SECRET=swordfish", "EMPTY="}
	require.Empty(t, differing(probeControls(goodProbe(), outside)))
	for name, change := range map[string][2]string{
		"program: write to /":              {"write to /=refused", "write to /=allowed"},
		"program: execute in /workspace":   {"execute in /workspace=allowed", "execute in /workspace=refused"},
		"program: connect to the host":     {"connect to the host=refused", "connect to the host=allowed"},
		"program: read /etc/shadow":        {"read /etc/shadow=refused\n", ""},
		"program: user":                    {"Uid:=65534\t65534", "Uid:=65534\t0"},
		"program: capabilities":            {"CapBnd:=0000000000000000", "CapBnd:=00000000a80425fb"},
		"program: seccomp":                 {"Seccomp:=2", "Seccomp:=0"},
		"program: new privileges":          {"status NoNewPrivs:=1\n", ""},
		"program: variables of the worker": {"env=PATH", "env=SECRET=swordfish\nenv=PATH"},
		"program: block devices":           {"env=PATH", "block device=/dev/sda\nenv=PATH"},
		"program: network interfaces":      {"env=PATH", "interface=eth0:\nenv=PATH"},
	} {
		changed := strings.Replace(goodProbe(), change[0], change[1], 1)
		require.Equal(t, []string{name}, differing(probeControls(changed, outside)))
	}
	require.Equal(t, []string{"program: capabilities"}, differing(probeControls(strings.Replace(goodProbe(), "status CapAmb:=0000000000000000\n", "", 1), outside)))
	require.NotEmpty(t, differing(probeControls("", outside)))
	withoutBash := strings.NewReplacer("connect to the host=refused\n", "", "connect to the internet=refused\n", "").Replace(goodProbe())
	require.Empty(t, differing(probeControls(withoutBash, outside)))
}

func TestTheTrialsKnowALimitFromNone(t *testing.T) {
	t.Parallel()
	limits := sandbox.DefaultLimits()
	unlimited := sandbox.Result{Outcome: sandbox.OutcomeOK, OK: true, Duration: sandbox.Seconds(30 * time.Second)}
	unlimited.Stdout = sandbox.Stream{Data: make([]byte, 2*limits.Output), Total: 2 * limits.Output}
	for _, trial := range trials(limits) {
		require.False(t, trial.judge(unlimited).OK, trial.name)
	}
}

// scriptedRunner answers by language.
type scriptedRunner map[string]sandbox.Result

func (r scriptedRunner) Run(_ context.Context, p sandbox.Program) (sandbox.Result, error) {
	result, found := r[p.Language]
	if !found {
		return sandbox.Result{}, errors.New("the daemon is gone")
	}
	return result, nil
}

func prints(text string) sandbox.Result {
	return sandbox.Result{Outcome: sandbox.OutcomeOK, OK: true, Stdout: sandbox.Stream{Data: []byte(text)}}
}

func TestALanguageIsRightWhenItPrints42(t *testing.T) {
	t.Parallel()
	broken := sandbox.Result{Outcome: sandbox.OutcomeCompileError, Compile: &sandbox.Step{Stderr: sandbox.Stream{Data: []byte("no such header\nmore\n")}}}
	check := &checker{runner: scriptedRunner{
		"good": prints("42\n"), versionOf("good"): prints("Good 1.2\nmore\n"), "wrong": prints("41\n"), "broken": broken, "mute": prints(""),
	}}
	row := func(name string) sandbox.Language {
		return sandbox.Language{Name: name, Image: "i", CheckSource: "x", Version: []string{"v"}}
	}
	require.Equal(t, languageCheck{Language: "good", Image: "i", Version: "Good 1.2", Output: "42", OK: true}, check.language(t.Context(), row("good")))
	require.False(t, check.language(t.Context(), row("wrong")).OK)
	require.False(t, check.language(t.Context(), row("mute")).OK)
	require.Contains(t, check.language(t.Context(), row("broken")).Problem, "no such header")
	require.Equal(t, "the daemon is gone", check.language(t.Context(), row("gone")).Problem)
}

func TestTheReportIsRightOnlyIfEverythingIs(t *testing.T) {
	t.Parallel()
	good := func() *checkReport {
		return &checkReport{
			Images:    []imageReport{{Image: "img", Controls: []control{same("memory", 1, 1)}}},
			Languages: []languageCheck{{Language: "python", OK: true}},
		}
	}
	report := good()
	report.judge()
	require.True(t, report.OK)

	report = good()
	report.Images[0].Controls[0] = same("memory", 1, 2)
	report.judge()
	require.False(t, report.OK)
	var table bytes.Buffer
	require.NoError(t, report.writeTable(&table))
	require.Regexp(t, `memory +1 +2 +DIFFERS`, table.String())

	report = good()
	report.Languages[0].OK = false
	report.judge()
	require.False(t, report.OK)

	report = &checkReport{}
	report.judge()
	require.False(t, report.OK, "nothing was looked at")
}

func TestGVisorIsRightWhereItDiffersByDesignAlone(t *testing.T) {
	t.Parallel()
	controls := onGVisor([]control{
		same("processes", 64, -1), same("memory", "256MiB", "1GiB"), same("seccomp", "filter", "filter"), same("limit: memory", "out_of_memory", "wall_timeout"),
	})
	require.Equal(t, []string{"memory"}, differing(controls))
	require.Equal(t, "-1 (gVisor: limited from outside, for the sandbox as a whole)", controls[0].Found)
	require.Equal(t, "filter", controls[2].Found)
	require.Equal(t, []string{"limit: memory"}, differing(onGVisor([]control{same("limit: memory", "out_of_memory", "ok")})))
}

func TestWhatTheHostConfinesWithIsLookedForInside(t *testing.T) {
	t.Parallel()
	const refused, allowed = "act as a 32-bit machine=refused\n", "act as a 32-bit machine=allowed\n"
	own, dockers := hostReport{Seccomp: profileName("")}, hostReport{Seccomp: profileName("docker")}
	require.Empty(t, differing(hostControls(refused, own)))
	require.Len(t, differing(hostControls(allowed, own)), 1)
	require.Empty(t, differing(hostControls(allowed, dockers)))
	require.Len(t, differing(hostControls(refused, dockers)), 1)
	require.Empty(t, hostControls(allowed, hostReport{Seccomp: profileName("/own.json")}), "who knows what is in it")
	require.Empty(t, hostControls("", own), "the image has no setarch")

	armored := hostReport{AppArmor: true}
	require.Empty(t, differing(hostControls("apparmor=docker-default (enforce)\n", armored)))
	bare := hostControls("apparmor=unconfined\n", armored)
	require.Len(t, differing(bare), 1)
	require.Equal(t, "unconfined: install apparmor on the host and restart Docker", bare[0].Found)
	require.Len(t, differing(hostControls("", armored)), 1)
	for _, host := range []hostReport{{UserNamespace: true}, {Rootless: true}} {
		require.Empty(t, differing(hostControls("root outside=100000\n", host)))
		require.Len(t, differing(hostControls("root outside=0\n", host)), 1)
		require.Len(t, differing(hostControls("", host)), 1)
	}
}

// The built-in profile, which is the default, must be enough for every language.
func TestEveryLanguageRunsUnderTheProfile(t *testing.T) {
	t.Parallel()
	testenv.Image(t)
	testenv.FullImage(t)
	configuration := fmt.Sprintf("sandbox: {init_path: %q}\nlog: {format: json}\n", testenv.InitPath(t))
	table, err := config.Default().Languages()
	require.NoError(t, err)
	images, all := map[string][]string{}, []string(nil)
	for _, language := range table.All() {
		images[language.Image] = append(images[language.Image], language.Name)
		all = append(all, language.Name)
	}
	require.ElementsMatch(t, []string{"bash", "c", "cpp", "go", "java", "lua", "node", "perl", "php", "python", "ruby", "rust"}, all)
	require.Len(t, images, 2)
	for image, languages := range images {
		t.Run(image, func(t *testing.T) { //nolint:paralleltest // one after the other: each starts a dozen containers
			code, stdout, said := runNow(t, configuration, "check", "--json", "-l", strings.Join(languages, ","))
			require.Equal(t, 0, code, said+stdout)
			var report checkReport
			require.NoError(t, json.Unmarshal([]byte(stdout), &report))
			require.Equal(t, "built-in profile", report.Host.Seccomp)
			var ran []string
			for _, language := range report.Languages {
				require.Equal(t, "42", language.Output, language.Language)
				ran = append(ran, language.Language)
			}
			require.ElementsMatch(t, languages, ran)
			require.Len(t, report.Images, 1)
			require.Equal(t, image, report.Images[0].Image)
			require.Contains(t, report.Images[0].Controls, same("seccomp profile: act as a 32-bit machine", "refused", "refused"))
		})
	}
}
