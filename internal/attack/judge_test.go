package attack_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/sandloop/sandloop/internal/attack"
	"github.com/sandloop/sandloop/internal/sandbox"
)

// loaded is the attack of a manifest with one row and more fields.
func loaded(t *testing.T, more string) *attack.Attack {
	t.Helper()
	attacks, err := attack.Load(folderOf(row+more+"}", "memory/bomb.py"))
	require.NoError(t, err)
	return &attacks[0]
}

// ended is a result under the usual enforcement.
func ended(outcome sandbox.Outcome, stdout string) sandbox.Result {
	return sandbox.Result{
		Outcome: outcome, Stdout: sandbox.Stream{Data: sandbox.Bytes(stdout)}, PeakMemory: 100,
		Enforcement: sandbox.Enforcement{KernelView: sandbox.KernelView{UID: 65534, GID: 65534, Capabilities: "0000000000000000", MemoryBytes: 100}},
	}
}

func TestAnAttackThatWasStoppedHasNoProblem(t *testing.T) {
	t.Parallel()
	compileError := ended(sandbox.OutcomeCompileError, "")
	compileError.Compile = &sandbox.Step{Stderr: sandbox.Stream{Data: sandbox.Bytes("denied")}}
	for more, result := range map[string]sandbox.Result{
		"":                                     ended(sandbox.OutcomeOK, "stopped: fork: EAGAIN\n"),
		", outcomes: [pids_limit]":             ended(sandbox.OutcomePIDsLimit, "first\nstopped: fork\n"),
		", silent: true":                       ended(sandbox.OutcomeOK, ""),
		", says: '^nothing$'":                  ended(sandbox.OutcomeOK, "nothing"),
		", outcomes: [ok, wall_timeout]":       ended(sandbox.OutcomeWallTimeout, "stopped: x\nnot ESCAPED: in the middle of a line\n"),
		", outcomes: [compile_error], says: d": compileError,
	} {
		require.Empty(t, loaded(t, more).Problems(result), more)
	}
}

func TestWhatAResultTellsAgainstAnAttack(t *testing.T) {
	t.Parallel()
	root, able, large := ended(sandbox.OutcomeOK, "stopped: x\n"), ended(sandbox.OutcomeOK, "stopped: x\n"), ended(sandbox.OutcomeOK, "stopped: x\n")
	root.Enforcement.UID, able.Enforcement.Capabilities, large.PeakMemory = 0, "0000000000000400", 101
	onStderr := ended(sandbox.OutcomeOK, "stopped: x\n")
	onStderr.Stderr.Data = sandbox.Bytes("\x1bmuch\nESCAPED: by stderr\n")
	compiler := ended(sandbox.OutcomeOK, "stopped: x\n")
	compiler.Compile = &sandbox.Step{Stdout: sandbox.Stream{Data: sandbox.Bytes("ESCAPED: at compile time")}}
	for name, test := range map[string]struct {
		result sandbox.Result
		want   []string
	}{
		"boast":    {ended(sandbox.OutcomeOK, "stopped: a\nESCAPED: b: c\nESCAPED: d\n"), []string{"b: c", "d"}},
		"stderr":   {onStderr, []string{"by stderr"}},
		"compiler": {compiler, []string{"at compile time"}},
		"no text":  {ended(sandbox.OutcomeOK, "stopped: a\nESCAPED: \xff"), []string{"?"}},
		"outcome":  {ended(sandbox.OutcomeInfraError, "stopped: x\n"), []string{"the outcome is infra_error (): want [ok]"}},
		"silence":  {ended(sandbox.OutcomeOK, "hm"), []string{`it did not say "(?m)^stopped: " but "hm", and on stderr ""`}},
		"memory":   {large, []string{"it had 101 bytes of memory: want at most 100"}},
		"root":     {root, []string{`it ran as 0:65534 with the capabilities "0000000000000000": want no root and none`}},
		"able":     {able, []string{`it ran as 65534:65534 with the capabilities "0000000000000400": want no root and none`}},
	} {
		require.Equal(t, test.want, loaded(t, "").Problems(test.result), name)
	}
}

func TestOnGVisorALostSandboxNeedHaveSaidNothing(t *testing.T) {
	t.Parallel()
	a := loaded(t, ", gvisor: [signaled]")
	lost, large := ended(sandbox.OutcomeSignaled, ""), ended(sandbox.OutcomeOK, "stopped: x\n")
	large.PeakMemory = 101
	require.Empty(t, a.OnGVisor().Problems(lost))
	require.Empty(t, a.OnGVisor().Problems(large))
	require.Len(t, a.Problems(lost), 2)
	require.Len(t, a.Problems(large), 1)
	require.Equal(t, []string{`it did not say "(?m)^stopped: " but "", and on stderr ""`}, a.OnGVisor().Problems(ended(sandbox.OutcomeOK, "")))
	lost.Stdout.Data = sandbox.Bytes("ESCAPED: x\n")
	require.Equal(t, []string{"x"}, a.OnGVisor().Problems(lost))
}
