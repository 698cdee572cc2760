package soak

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"time"

	"github.com/sandloop/sandloop/internal/grade"
	"github.com/sandloop/sandloop/internal/jobs"
	"github.com/sandloop/sandloop/internal/sandbox"
)

// work is a kind of program.
type work struct {
	name string
	// share is how often it is chosen, against the others.
	share int
	make  func(random *rand.Rand, mark string) (sandbox.Program, Want)
}

// patience is a wall-clock limit that no program reaches by being slow.
const patience = 2 * time.Minute

// works are all kinds. Each program says its mark, so that no two jobs give the same output.
var works = []work{
	{"ok", 6, func(_ *rand.Rand, mark string) (sandbox.Program, Want) {
		return python("print('ok', %q)", mark), exited(0, "ok "+mark+"\n")
	}},
	{"sleep", 5, func(random *rand.Rand, mark string) (sandbox.Program, Want) {
		return bash("sleep %d.%d; echo slept %s", random.IntN(6), random.IntN(10), mark), exited(0, "slept "+mark+"\n")
	}},
	{"fail", 2, func(_ *rand.Rand, mark string) (sandbox.Program, Want) {
		return bash("echo failed %s; exit 7", mark), exited(7, "failed "+mark+"\n")
	}},
	{"signal", 1, func(_ *rand.Rand, mark string) (sandbox.Program, Want) {
		want := exited(128+11, "up "+mark+"\n")
		want.Outcome = string(sandbox.OutcomeSignaled)
		return bash("echo up %s; kill -SEGV $$", mark), want
	}},
	{"timeout", 1, func(_ *rand.Rand, mark string) (sandbox.Program, Want) {
		program, limit := bash("echo begun %s; exec sleep 600", mark), sandbox.Seconds(2*time.Second)
		program.Limits.WallTime = &limit
		want := exited(-1, "begun "+mark+"\n")
		want.Outcome, want.Partial = string(sandbox.OutcomeWallTimeout), true
		return program, want
	}},
	{"memory", 1, func(_ *rand.Rand, mark string) (sandbox.Program, Want) {
		program, limit := python("import sys\nprint('takes', %q, flush=True)\nx = bytearray(400 << 20)", mark), 64*sandbox.MiB
		program.Limits.Memory = &limit
		want := exited(0, "takes "+mark+"\n")
		want.Outcome, want.ExitCode = string(sandbox.OutcomeOutOfMemory), nil
		return program, want
	}},
	{"flood", 1, func(_ *rand.Rand, mark string) (sandbox.Program, Want) {
		const repeats = 20_000
		program, limit := python("import sys\nsys.stdout.write((%q + '\\n') * %d)", mark, repeats), sandbox.MiB
		program.Limits.Output = &limit
		whole := bytes.Repeat([]byte(mark+"\n"), repeats)
		want := exited(0, Digest(whole))
		want.Total = int64(len(whole))
		return program, want
	}},
	{"stdin", 2, func(random *rand.Rand, mark string) (sandbox.Program, Want) {
		input := bytes.Repeat([]byte(mark+"\n"), 1+random.IntN(500))
		program := bash("cat")
		program.Stdin = input
		want := exited(0, Digest(input))
		want.Total = int64(len(input))
		return program, want
	}},
	{"compile", 1, func(_ *rand.Rand, mark string) (sandbox.Program, Want) {
		want := exited(0, "")
		want.Outcome, want.ExitCode = string(sandbox.OutcomeCompileError), nil
		return sandbox.Program{Language: "c", Source: fmt.Appendf(nil, "int main(void) { return /* %s */ }\n", mark)}, want
	}},
	{"batch", 3, func(random *rand.Rand, mark string) (sandbox.Program, Want) {
		program := python("print('in a batch', %q)", mark)
		program.Reuse = fmt.Sprintf("batch-%d", random.IntN(2))
		return program, exited(0, "in a batch "+mark+"\n")
	}},
}

// graded is the share of jobs that are judged: they are made by another way.
const gradedShare = 3

func python(source string, args ...any) sandbox.Program { return program("python", source, args...) }

func bash(source string, args ...any) sandbox.Program { return program("bash", source, args...) }

func program(language, source string, args ...any) sandbox.Program {
	limit := sandbox.Seconds(patience)
	return sandbox.Program{
		Language: language, Source: fmt.Appendf(nil, source, args...), Limits: sandbox.Overrides{WallTime: &limit, CPUTime: &limit},
	}
}

// exited is the end of a program that wrote something and exited.
func exited(code int, stdout string) Want {
	outcome := sandbox.OutcomeOK
	if code != 0 {
		outcome = sandbox.OutcomeNonzeroExit
	}
	return Want{Outcome: string(outcome), ExitCode: &code, Stdout: stdout, Total: int64(len(stdout))}
}

// Plan makes the nth job and says what it must give. The same random numbers make the same job. It has a name, so
// that it can be handed in again: an id for every other one, an idempotency key for the rest.
func Plan(random *rand.Rand, n int) (jobs.Job, Want) {
	mark := fmt.Sprintf("j%d", n)
	job := jobs.Job{Queue: jobs.Queues()[random.IntN(len(jobs.Queues()))], Tenant: []string{"", "red", "blue", "green"}[random.IntN(4)]}
	if n%2 == 0 {
		job.ID = "soak-" + mark
	} else {
		job.IdempotencyKey = "soak-" + mark
		job.ID = jobs.KeyedID(job.Tenant, job.IdempotencyKey)
	}
	total := gradedShare
	for _, w := range works {
		total += w.share
	}
	chosen := random.IntN(total)
	for _, w := range works {
		if chosen < w.share {
			var want Want
			job.Program, want = w.make(random, mark)
			want.Work = w.name
			return job, want
		}
		chosen -= w.share
	}
	var want Want
	job.Program, job.Grade, want = submission(random, mark)
	return job, want
}

// submission is a program that adds two numbers, rightly or not, and the tests that tell.
func submission(random *rand.Rand, mark string) (sandbox.Program, *grade.Task, Want) {
	program, verdict := python("# %s\na, b = map(int, input().split())\nprint(a + b)", mark), grade.AC
	if random.IntN(2) == 0 {
		program, verdict = python("# %s\na, b = map(int, input().split())\nprint(a * b)", mark), grade.WA
	}
	data := func(text string) grade.Data { return grade.Data{Inline: sandbox.Bytes(text)} }
	task := &grade.Task{Suite: &grade.Suite{Tests: []grade.Test{
		{Name: "both", Input: data("2 2\n"), Answer: data("4\n")},
		{Name: "sum", Input: data("2 3\n"), Answer: data("5\n")},
	}}}
	want := exited(0, "")
	want.Work, want.Verdict, want.ExitCode = "graded", string(verdict), nil
	return program, task, want
}
