package docker

import (
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"path"
	"slices"

	"github.com/sandloop/sandloop/internal/sandbox"
	"github.com/sandloop/sandloop/internal/sandbox/wire"
)

const (
	pageSize = 4096
	// initMemory is what sandbox-init needs of a job's memory limit while it takes the input.
	initMemory = 8 * sandbox.MiB
)

// newJob makes the spec of a prepared program. The error is the job's own: its input
// can never be put into the workspace under its limits.
func newJob(p sandbox.Program, prepared sandbox.Prepared, s shape) (job, error) {
	if err := checkInput(p, prepared, 1); err != nil {
		return job{}, err
	}
	key := make([]byte, 32)
	_, _ = rand.Read(key) // never fails
	limits := prepared.Limits
	spec := wire.Spec{
		Key: key, Steps: steps(prepared), StdinSize: int64(len(p.Stdin)),
		Outputs: p.Outputs, FilesOut: limits.FilesOut, FileBytes: limits.FileBytes,
		Expect: wire.Expect{
			MemoryBytes: s.memory, CPUs: s.cpus(), PIDs: s.pids,
			TmpBytes: s.tmp, WorkspaceBytes: s.workspace, OpenFiles: s.openFiles, Network: s.network,
		},
	}
	for _, file := range prepared.Files {
		spec.Files = append(spec.Files, wire.FileHeader{Path: file.Path, Size: int64(len(file.Data)), Executable: file.Executable})
	}
	// Escapes can make one message of JSON out of it that is six times as long.
	if encoded, err := json.Marshal(spec); err != nil || len(encoded) > wire.MaxPayload {
		return job{}, errors.Join(err, fmt.Errorf("args, env, files: they make a message of %d bytes: want at most %d", len(encoded), wire.MaxPayload))
	}
	return job{spec: spec, files: prepared.Files, stdin: p.Stdin, onOutput: p.OnOutput}, nil
}

// forTests makes the run step one that is sent for each test of a series.
func (j *job) forTests(tests *series) {
	j.tests, j.spec.Tests = tests, true
	j.spec.Steps = slices.Clip(j.spec.Steps[:len(j.spec.Steps)-1])
}

// steps are those of a program; the last is the run step.
func steps(prepared sandbox.Prepared) []wire.Step {
	limits, plan := prepared.Limits, prepared.Plan
	step := wire.Step{Env: plan.Env, Output: limits.Output, OutputKill: limits.OutputKill}
	var all []wire.Step
	if len(plan.Compile) > 0 {
		compile := step
		compile.Name, compile.Argv = stepCompile, plan.Compile
		compile.WallTime, compile.CPUTime = sandbox.Seconds(limits.CompileTime), sandbox.Seconds(limits.CPUTimeWithin(limits.CompileTime))
		all = append(all, compile)
	}
	step.Name, step.Argv, step.Stdin = stepRun, plan.Run, true
	step.WallTime, step.CPUTime = sandbox.Seconds(limits.WallTime), sandbox.Seconds(limits.CPUTime)
	return append(all, step)
}

// checkInput finds out what sandbox-init would find out too late: input that exceeds the
// workspace or the memory that it is charged to, and a file where another needs a directory. Memory holds
// so many copies of the files.
func checkInput(p sandbox.Program, prepared sandbox.Prepared, copies int64) error {
	blocks, isFile := int64(0), map[string]bool{}
	for _, file := range prepared.Files {
		blocks += (int64(len(file.Data)) + pageSize - 1) / pageSize * pageSize
		isFile[file.Path] = true
	}
	if blocks > prepared.Limits.Workspace {
		return fmt.Errorf("files: %d bytes are needed for them: the workspace has %d (limits.workspace_bytes)", blocks, prepared.Limits.Workspace)
	}
	if need := copies*blocks + int64(len(p.Stdin)) + initMemory; need > prepared.Limits.Memory {
		return fmt.Errorf("files: with them and stdin %d bytes of memory are used before the program starts: the limit is %d (limits.memory_bytes)",
			need, prepared.Limits.Memory)
	}
	for _, file := range prepared.Files {
		for dir := path.Dir(file.Path); dir != "."; dir = path.Dir(dir) {
			if isFile[dir] {
				return fmt.Errorf("files: %q is a file and %q needs it as a directory", dir, file.Path)
			}
		}
	}
	return nil
}
