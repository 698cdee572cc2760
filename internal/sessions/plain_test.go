package sessions

import (
	"context"
	"errors"
	"math"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/sandloop/sandloop/internal/jobs"
	"github.com/sandloop/sandloop/internal/live"
	"github.com/sandloop/sandloop/internal/sandbox"
	"github.com/sandloop/sandloop/internal/workspace"
)

type program = sandbox.Program

func TestAJobFindsTheFilesOfTheOneBefore(t *testing.T) {
	t.Parallel()
	b := setup(t)
	b.run = func(_ context.Context, _ program, files map[string]string) (sandbox.Result, error) {
		require.Equal(t, map[string]string{"main.py": "source of 1"}, files)
		files["data/a"], files["b"] = "1", "2"
		return sandbox.Result{}, nil
	}
	result, report := b.must(job("1"))
	require.Equal(t, sandbox.OutcomeOK, result.Outcome)
	require.Empty(t, result.Files, "the job asked for none")
	require.Equal(t, &workspace.Report{Version: 1, Written: []string{"b", "data/a"}}, report)
	require.Equal(t, map[string]string{"data/a": "1", "b": "2"}, b.files(), "the source is not kept")

	b.run = func(_ context.Context, _ program, files map[string]string) (sandbox.Result, error) {
		require.Equal(t, map[string]string{"main.py": "source of 2", "data/a": "1", "b": "mine", "c": "3"}, files, "the job's own win")
		delete(files, "data/a")
		return sandbox.Result{}, nil
	}
	_, report = b.must(job("2", func(j *jobs.SessionJob) { j.Program.Files = list(map[string]string{"b": "mine", "c": "3"}) }))
	require.Equal(t, &workspace.Report{Version: 2, Written: []string{"b", "c"}, Deleted: []string{"data/a"}}, report)
	require.Equal(t, map[string]string{"b": "mine", "c": "3"}, b.files())

	b.run = func(context.Context, program, map[string]string) (sandbox.Result, error) {
		return sandbox.Result{}, nil
	}
	_, report = b.must(job("3"))
	require.Equal(t, &workspace.Report{Version: 2}, report, "nothing changed")
}

func TestWhereTheSourceGoes(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		language, main string
		has            map[string]string
		do             func(files map[string]string)
		finds, leaves  map[string]string
	}{
		"a script makes room for the session's file of its name": {
			language: "python", has: map[string]string{"main.py": "lib", "main-1.py": "too"},
			finds:  map[string]string{"main.py": "lib", "main-1.py": "too", "main-2.py": "S"},
			leaves: map[string]string{"main.py": "lib", "main-1.py": "too"},
		},
		"a script makes room for a folder of its name": {
			language: "python", has: map[string]string{"main.py/x": "odd"},
			finds: map[string]string{"main.py/x": "odd", "main-1.py": "S"}, leaves: map[string]string{"main.py/x": "odd"},
		},
		"what is compiled stands in the place of the session's": {
			language: "c", has: map[string]string{"main.c": "old", "lib.c": "l"},
			finds:  map[string]string{"main.c": "S", "lib.c": "l"},
			leaves: map[string]string{"main.c": "old", "lib.c": "l"},
		},
		"a name that the job chose": {
			language: "python", main: "run.py", has: map[string]string{"run.py": "old"},
			finds: map[string]string{"run.py": "S"}, leaves: map[string]string{"run.py": "old"},
		},
		"a program that writes over its source": {
			language: "python", do: func(files map[string]string) { files["main.py"] = "new" },
			finds: map[string]string{"main.py": "S"}, leaves: map[string]string{"main.py": "new"},
		},
		"a program that deletes its source": {
			language: "python", main: "run.py", has: map[string]string{"run.py": "old"}, do: func(files map[string]string) { clear(files) },
			finds: map[string]string{"run.py": "S"}, leaves: map[string]string{"run.py": "old"},
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := setup(t)
			if c.has != nil {
				b.has(t.Context(), c.has)
			}
			b.run = func(_ context.Context, p program, files map[string]string) (sandbox.Result, error) {
				require.Equal(t, c.finds, files)
				require.Equal(t, "S", files[p.Main])
				if c.do != nil {
					c.do(files)
				}
				return sandbox.Result{}, nil
			}
			b.must(job("1", func(j *jobs.SessionJob) {
				j.Program.Language, j.Program.Main, j.Program.Source = c.language, c.main, []byte("S")
			}))
			require.Equal(t, c.leaves, b.files())
		})
	}
}

func TestAMainFileAmongTheFilesIsKept(t *testing.T) {
	t.Parallel()
	b := setup(t)
	b.run = func(_ context.Context, p program, files map[string]string) (sandbox.Result, error) {
		require.Equal(t, "run.py", p.Main)
		require.Equal(t, map[string]string{"run.py": "r"}, files)
		return sandbox.Result{}, nil
	}
	b.must(job("1", func(j *jobs.SessionJob) {
		j.Program.Source, j.Program.Main, j.Program.Files = nil, "run.py", list(map[string]string{"run.py": "r"})
	}))
	require.Equal(t, map[string]string{"run.py": "r"}, b.files())
}

func TestOnlyFilesThatTheJobAskedForComeBack(t *testing.T) {
	t.Parallel()
	b := setup(t)
	b.has(t.Context(), map[string]string{"old.txt": "o", "other": "x"})
	b.run = func(_ context.Context, p program, files map[string]string) (sandbox.Result, error) {
		require.Equal(t, []string{"**"}, p.Outputs)
		files["a.txt"], files["large.txt"], files["z.txt"] = "aaa", strings.Repeat("l", 20), "zz"
		return sandbox.Result{Outcome: sandbox.OutcomeOK, Collected: true, RefusedFiles: []sandbox.RefusedFile{
			{Path: "link.txt", Reason: "is a symbolic link, not a file"}, {Path: "pipe", Reason: "is a FIFO, not a file"},
		}}, nil
	}
	two, size := 2, int64(10)
	result, report := b.must(job("1", func(j *jobs.SessionJob) {
		j.Program.Outputs, j.Program.Limits = []string{"*.txt"}, sandbox.Overrides{FilesOut: &two, FileBytes: &size}
	}))
	require.Equal(t, map[string]string{"a.txt": "aaa", "old.txt": "o"}, texts(result.Files))
	require.Equal(t, []sandbox.RefusedFile{
		{Path: "link.txt", Reason: "is a symbolic link, not a file"},
		{Path: "large.txt", Reason: "has 20 bytes: 7 are left of the 10 that all files may have", Limit: true},
		{Path: "z.txt", Reason: "more than 2 files match", Limit: true},
	}, result.RefusedFiles)
	require.Len(t, report.Refused, 2, "of the session")
	require.Equal(t, []string{"a.txt", "large.txt", "z.txt"}, report.Written, "a job's own limits do not bind the session")
}

func TestHowAJobMayEndAndWhatIsKept(t *testing.T) {
	t.Parallel()
	kept, not := map[string]string{"old": "o", "new": "n"}, map[string]string{"old": "o"}
	failure := errors.New("no daemon")
	for name, c := range map[string]struct {
		result  sandbox.Result
		err     error
		want    map[string]string
		refused string
	}{
		"an exception":        {sandbox.Result{Outcome: sandbox.OutcomeNonzeroExit, Collected: true}, nil, kept, ""},
		"a timeout":           {sandbox.Result{Outcome: sandbox.OutcomeWallTimeout, Collected: true}, nil, kept, ""},
		"out of memory":       {sandbox.Result{Outcome: sandbox.OutcomeOutOfMemory, Collected: true}, nil, kept, ""},
		"a compile error":     {sandbox.Result{Outcome: sandbox.OutcomeCompileError, Collected: true}, nil, kept, ""},
		"the sandbox is lost": {sandbox.Result{Outcome: sandbox.OutcomeSignaled}, nil, not, "the sandbox was lost with all its files: no change of this job is kept"},
		"canceled":            {sandbox.Result{Outcome: sandbox.OutcomeCanceled, Collected: true}, nil, not, ""},
		"rejected":            {sandbox.Result{Outcome: sandbox.OutcomeRejected}, nil, not, ""},
		"our own failure":     {sandbox.Result{}, failure, not, ""},
		"too much for the limits": {sandbox.Result{Outcome: sandbox.OutcomeOK, Collected: true, RefusedFiles: []sandbox.RefusedFile{
			{Path: "huge", Reason: "has 9 bytes", Limit: true},
		}}, nil, not, nothingKept.Reason},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := setup(t)
			b.has(t.Context(), map[string]string{"old": "o"})
			b.run = func(_ context.Context, _ program, files map[string]string) (sandbox.Result, error) {
				files["new"] = "n"
				return c.result, c.err
			}
			result, report, err := b.Run(t.Context(), job("1"))
			require.Equal(t, c.want, b.files())
			if c.err != nil {
				require.ErrorIs(t, err, c.err)
				return
			}
			require.NoError(t, err)
			require.Equal(t, c.result.Outcome, result.Outcome)
			if c.refused != "" {
				require.Equal(t, c.refused, report.Refused[len(report.Refused)-1].Reason)
				require.Empty(t, report.Written)
				require.EqualValues(t, 1, report.Version)
			}
		})
	}
}

func TestAboveTheQuotaNothingIsKept(t *testing.T) {
	t.Parallel()
	b := setup(t, func(o *Options) { o.Quota = 10 })
	b.has(t.Context(), map[string]string{"old": "12345"})
	b.run = func(_ context.Context, _ program, files map[string]string) (sandbox.Result, error) {
		files["new"] = "123456"
		return sandbox.Result{}, nil
	}
	result, report := b.must(job("1"))
	require.Equal(t, sandbox.OutcomeOK, result.Outcome, "it is the program's own")
	require.Equal(t, &workspace.Report{Version: 1, Refused: []sandbox.RefusedFile{
		{Path: ".", Reason: "the session would hold 11 bytes: want at most 10: no change of this job is kept", Limit: true},
	}}, report)
	require.Equal(t, map[string]string{"old": "12345"}, b.files())
}

func TestOfWhatIsRefusedTheSessionKeepsWhatItHad(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		refused sandbox.RefusedFile
		want    map[string]string
	}{
		"a link in the place of a file": {sandbox.RefusedFile{Path: "a"}, map[string]string{"a": "1", "new": "n"}},
		"a folder that cannot be read":  {sandbox.RefusedFile{Path: "d"}, map[string]string{"d/b": "2", "d/e/c": "3", "new": "n"}},
		"all of it cannot be read":      {sandbox.RefusedFile{Path: "."}, map[string]string{"a": "1", "d/b": "2", "d/e/c": "3", "new": "n"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := setup(t)
			b.has(t.Context(), map[string]string{"a": "1", "d/b": "2", "d/e/c": "3"})
			b.run = func(_ context.Context, _ program, files map[string]string) (sandbox.Result, error) {
				clear(files)
				files["new"] = "n"
				return sandbox.Result{Outcome: sandbox.OutcomeOK, Collected: true, RefusedFiles: []sandbox.RefusedFile{c.refused}}, nil
			}
			_, report := b.must(job("1"))
			require.Equal(t, c.want, b.files())
			require.Equal(t, []sandbox.RefusedFile{c.refused}, report.Refused)
		})
	}
}

func TestAJobThatCommittedDoesNotRunAgain(t *testing.T) {
	t.Parallel()
	b := setup(t)
	runs := 0
	b.run = func(_ context.Context, _ program, files map[string]string) (sandbox.Result, error) {
		runs++
		files["n"] += "x"
		return sandbox.Result{
			Outcome: sandbox.OutcomeNonzeroExit, ExitCode: 3, Collected: true, Stdout: sandbox.Stream{Data: []byte("said"), Total: 4}, Stderr: sandbox.Stream{Data: sandbox.Bytes{}},
		}, nil
	}
	asks := func(j *jobs.SessionJob) { j.Program.Outputs = []string{"n"} }
	first, firstReport := b.must(job("1", asks))
	b.has(t.Context(), map[string]string{"n": "later"})
	second, secondReport := b.must(job("1", asks))
	require.Equal(t, 1, runs)
	first.Collected = false // is for the worker alone
	require.Equal(t, first, second)
	require.Equal(t, map[string]string{"n": "x"}, texts(second.Files))
	require.Equal(t, &workspace.Report{Version: 1, Written: []string{"n"}}, firstReport)
	require.Equal(t, firstReport, secondReport)
	require.Equal(t, map[string]string{"n": "later"}, b.files())
}

func TestRejectedBeforeItHasTheSession(t *testing.T) {
	t.Parallel()
	b := setup(t, func(o *Options) { o.Defaults.InputBytes = 100 })
	b.run = func(context.Context, program, map[string]string) (sandbox.Result, error) {
		require.Fail(t, "nothing runs")
		return sandbox.Result{}, nil
	}
	for want, change := range map[string]func(*jobs.SessionJob){
		`language "cobol" is unknown`: func(j *jobs.SessionJob) { j.Program.Language = "cobol" },
		"limits.pids":                 func(j *jobs.SessionJob) { pids := 99999; j.Program.Limits.PIDs = &pids },
		"files: source, files and stdin are 101 bytes: want at most 100": func(j *jobs.SessionJob) {
			j.Program.Source, j.Program.Stdin = make([]byte, 60), make([]byte, 41)
		},
		`outputs[0]`: func(j *jobs.SessionJob) { j.Program.Outputs = []string{"../x"} },
		`session`:    func(j *jobs.SessionJob) { j.Session.Name = "a/b" },
	} {
		result, report := b.must(job("1", change))
		require.Equal(t, sandbox.OutcomeRejected, result.Outcome)
		require.Contains(t, result.Message, want)
		require.Equal(t, -1, result.ExitCode)
		require.Nil(t, report)
	}
	require.Nil(t, b.files())
}

func TestASessionMayBeLargerThanWhatAJobMaySend(t *testing.T) {
	t.Parallel()
	b := setup(t, func(o *Options) {
		o.Defaults.InputBytes, o.Defaults.FilesIn, o.Defaults.FilesOut, o.Defaults.FileBytes = 100, 2, 1, 50
	})
	large := map[string]string{"a": strings.Repeat("a", 90), "b": strings.Repeat("b", 90), "c": "c", "d": "d"}
	b.has(t.Context(), large)
	b.run = func(_ context.Context, p program, files map[string]string) (sandbox.Result, error) {
		require.Len(t, files, 5)
		require.Equal(t, 51, *p.Limits.FilesOut, "50 files of the session and the source")
		require.EqualValues(t, 1<<20+len("source of 1"), *p.Limits.FileBytes)
		files["e"] = "e"
		return sandbox.Result{}, nil
	}
	result, report := b.must(job("1"))
	require.Equal(t, sandbox.OutcomeOK, result.Outcome, result.Message)
	require.Equal(t, []string{"e"}, report.Written)
}

// Neither by itself, nor when it is tried again.
func TestAJobWhoseSessionIsDeletedEndsAndKeepsNothing(t *testing.T) {
	t.Parallel()
	for name, wait := range map[string]func(context.Context){
		"it hears of that":    func(ctx context.Context) { <-ctx.Done() },
		"it ends before that": func(context.Context) {},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := setup(t)
			b.has(t.Context(), map[string]string{"a": "1"})
			b.run = func(ctx context.Context, _ program, files map[string]string) (sandbox.Result, error) {
				require.NoError(t, b.store.Delete(context.WithoutCancel(ctx), session))
				wait(ctx)
				files["out"] = "x"
				return sandbox.Result{}, context.Cause(ctx)
			}
			result, report := b.must(job("1"))
			require.Equal(t, sandbox.OutcomeCanceled, result.Outcome)
			require.Equal(t, "the session was deleted while the job ran: nothing of it is kept", result.Message)
			require.Nil(t, report)
			require.Nil(t, b.files())
		})
	}
}

func TestFilesThatNoFolderCanHoldAreRejected(t *testing.T) {
	t.Parallel()
	b := setup(t)
	b.has(t.Context(), map[string]string{"data": "d"})
	b.run = func(context.Context, program, map[string]string) (sandbox.Result, error) {
		require.Fail(t, "nothing runs")
		return sandbox.Result{}, nil
	}
	below := func(j *jobs.SessionJob) { j.Program.Files = list(map[string]string{"data/x": "x"}) }
	for id, change := range map[string]func(*jobs.SessionJob){"1": below, "2": func(j *jobs.SessionJob) { inSession(j); below(j) }} {
		result, _ := b.must(job(id, change))
		require.Equal(t, sandbox.OutcomeRejected, result.Outcome, id)
		require.Contains(t, result.Message, `"data" is a file and "data/x" needs it as a directory`)
	}
	require.Equal(t, map[string]string{"data": "d"}, b.files())
}

func TestAChangeWhoseResultCannotBeStoredIsNotKept(t *testing.T) {
	t.Parallel()
	b := setup(t)
	b.has(t.Context(), map[string]string{"n": "1"})
	huge := sandbox.Result{Outcome: sandbox.OutcomeOK, Collected: true, Enforcement: sandbox.Enforcement{KernelView: sandbox.KernelView{CPUs: math.NaN()}}}
	b.run = func(_ context.Context, _ program, files map[string]string) (sandbox.Result, error) {
		files["n"] += "1"
		return huge, nil
	}
	_, report := b.must(job("1"))
	require.Equal(t, &workspace.Report{Version: 1, Refused: []sandbox.RefusedFile{untold}}, report)
	require.Equal(t, map[string]string{"n": "1"}, b.files(), "or the job would add to it once more when it is begun again")

	b.must(job("2", inSession))
	b.does(func(context.Context, live.Cell) (live.Outcome, error) {
		return live.Outcome{Result: huge, Changes: live.Changes{Written: list(map[string]string{"n": "11"})}}, nil
	})
	_, report = b.must(job("3", inSession))
	require.Equal(t, []sandbox.RefusedFile{untold}, report.Refused)
	require.Equal(t, map[string]string{"n": "1"}, b.files())
	b.does(nil)
	b.must(job("4", inSession))
	require.Equal(t, map[string]string{"n": "1"}, b.interpreters[0].files)
}

// A worker that was frozen does not hear in time that it lost the lease.
func TestAThawedWorkerCommitsNothing(t *testing.T) {
	t.Parallel()
	b := setup(t)
	b.has(t.Context(), map[string]string{"a": "1"})
	b.run = func(ctx context.Context, _ program, files map[string]string) (sandbox.Result, error) {
		require.NoError(t, b.store.Delete(ctx, session))
		b.has(ctx, map[string]string{"a": "the next one's"})
		files["a"] = "mine"
		return sandbox.Result{}, nil
	}
	_, _, err := b.Run(t.Context(), job("1"))
	require.ErrorIs(t, err, workspace.ErrFenced)
	require.Equal(t, map[string]string{"a": "the next one's"}, b.files())
}

func TestACanceledJobIsAResult(t *testing.T) {
	t.Parallel()
	b := setup(t)
	ctx, cancel := context.WithCancelCause(t.Context())
	b.run = func(ctx context.Context, _ program, files map[string]string) (sandbox.Result, error) {
		cancel(sandbox.ErrCanceled)
		files["n"] = "x"
		return sandbox.Result{}, nil // it had ended by then
	}
	result, _, err := b.Run(ctx, job("1"))
	require.NoError(t, err)
	require.Equal(t, sandbox.OutcomeCanceled, result.Outcome)
	require.Empty(t, b.files())
	result, _, err = b.Run(ctx, job("2"))
	require.NoError(t, err)
	require.Equal(t, sandbox.OutcomeCanceled, result.Outcome, "nor does it wait for the session")
}

func TestAJobThatIsEndedForAnotherReasonIsAnError(t *testing.T) {
	t.Parallel()
	b := setup(t)
	ctx, cancel := context.WithCancelCause(t.Context())
	b.run = func(_ context.Context, _ program, files map[string]string) (sandbox.Result, error) {
		cancel(jobs.ErrShutdown)
		files["n"] = "x"
		return sandbox.Result{}, nil
	}
	_, _, err := b.Run(ctx, job("1"))
	require.ErrorIs(t, err, jobs.ErrShutdown)
	require.Empty(t, b.files())
	b.run = func(context.Context, program, map[string]string) (sandbox.Result, error) {
		return sandbox.Result{}, nil
	}
	b.must(job("2")) // the session is free again
}

func TestDamagedFilesAreNotTriedAgain(t *testing.T) {
	t.Parallel()
	b := setup(t)
	b.has(t.Context(), map[string]string{"a": "1"})
	keys, err := b.rdb.Keys(t.Context(), "*:files").Result()
	require.NoError(t, err)
	require.Len(t, keys, 1)
	require.NoError(t, b.rdb.Set(t.Context(), keys[0], "not an archive of that many bytes", 0).Err())
	result, _ := b.must(job("1"))
	require.Equal(t, sandbox.OutcomeRejected, result.Outcome)
	require.Contains(t, result.Message, "delete the session")
}
