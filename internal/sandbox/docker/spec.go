package docker

import (
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"path"
	"slices"
	"strings"

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
	if err := checkInput(prepared, 1, nil, p.Stdin); err != nil {
		return job{}, err
	}
	key := make([]byte, 32)
	_, _ = rand.Read(key) // never fails
	limits := prepared.Limits
	spec := wire.Spec{
		Key: key, Steps: steps(prepared), Files: fileHeaders(prepared.Files), StdinSize: int64(len(p.Stdin)),
		Outputs: p.Outputs, FilesOut: limits.FilesOut, FileBytes: limits.FileBytes,
		Expect: wire.Expect{
			MemoryBytes: s.memory, CPUs: s.cpus(), PIDs: s.pids,
			TmpBytes: s.tmp, WorkspaceBytes: s.workspace, OpenFiles: s.openFiles, Network: s.network,
		},
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

func fileHeaders(files []sandbox.File) (headers []wire.FileHeader) {
	for _, file := range files {
		headers = append(headers, wire.FileHeader{Path: file.Path, Size: int64(len(file.Data)), Executable: file.Executable})
	}
	return headers
}

// checkInput finds out what sandbox-init would find out too late: input that exceeds the
// workspace or the memory that it is charged to, and a file where another needs a directory. Memory holds
// so many copies of the program's files, and one of those that a test adds.
func checkInput(prepared sandbox.Prepared, copies int64, added []sandbox.File, stdin []byte) error {
	own, more := blocks(prepared.Files), blocks(added)
	if own+more > prepared.Limits.Workspace {
		return fmt.Errorf("files: %d bytes are needed for them: the workspace has %d (limits.workspace_bytes)", own+more, prepared.Limits.Workspace)
	}
	if need := copies*own + more + int64(len(stdin)) + initMemory; need > prepared.Limits.Memory {
		return fmt.Errorf("files: with them and stdin %d bytes of memory are used before the program starts: the limit is %d (limits.memory_bytes)",
			need, prepared.Limits.Memory)
	}
	return errors.Join(checkFolders(prepared.Files), checkFolders(added))
}

// blocks is how many bytes files take in a workspace.
func blocks(files []sandbox.File) (total int64) {
	for _, file := range files {
		total += (int64(len(file.Data)) + pageSize - 1) / pageSize * pageSize
	}
	return total
}

func checkFolders(files []sandbox.File) error {
	isFile := map[string]bool{}
	for _, file := range files {
		isFile[file.Path] = !strings.HasSuffix(file.Path, "/")
	}
	for _, file := range files {
		name := strings.TrimSuffix(file.Path, "/")
		for dir := path.Dir(name); dir != "."; dir = path.Dir(dir) {
			if isFile[dir] {
				return fmt.Errorf("files: %q is a file and %q needs it as a directory", dir, file.Path)
			}
		}
	}
	return nil
}
