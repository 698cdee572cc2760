package toolbox

import (
	"context"
	"errors"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/sandloop/sandloop/internal/agent"
	"github.com/sandloop/sandloop/internal/jobs"
	"github.com/sandloop/sandloop/internal/sandbox"
	"github.com/sandloop/sandloop/internal/workspace"
)

func TestRunCodeIsAJob(t *testing.T) {
	t.Parallel()
	memory := 64 * sandbox.MiB
	box, queue := setup(t, func(o *Options) { o.Limits.Memory = &memory })
	queue.finish(ok("42\n"))
	got := call(t, box, "run_code", object{
		"language": "py", "code": "print(42)", "stdin": "in", "timeout": 2.5,
		"files": []object{{"path": "/workspace/a/b.txt", "content": "text"}, {"path": "./c", "content": "AAE=", "encoding": "base64"}},
	}, nil)
	require.Equal(t, "42", got.Text)
	require.False(t, got.IsError)

	job := queue.submitted[0]
	require.Equal(t, got.JobID, jobs.KeyedID("alice", job.IdempotencyKey))
	require.Equal(t, jobs.Interactive, job.Queue)
	require.False(t, job.Follow, "nobody listens")
	require.Nil(t, job.Session)
	require.Equal(t, "python", job.Program.Language, "the alias is resolved")
	require.Equal(t, "print(42)", string(job.Program.Source))
	require.Equal(t, "in", string(job.Program.Stdin))
	require.Equal(t, 2500*time.Millisecond, job.Program.Limits.WallTime.Duration())
	require.Equal(t, memory, *job.Program.Limits.Memory)
	require.Equal(t, []sandbox.File{{Path: "a/b.txt", Data: sandbox.Bytes("text")}, {Path: "c", Data: sandbox.Bytes{0, 1}}}, job.Program.Files)
	require.Contains(t, job.Program.Outputs, "**/*.png")
	require.NoError(t, job.Validate())
}

func TestRunCommandPassesArgvAndNoShellText(t *testing.T) {
	t.Parallel()
	box, queue := setup(t)
	queue.finish(ok("x\n"))
	call(t, box, "run_command", object{"argv": []string{"-n; rm", "$(reboot)", ""}}, nil)
	program := queue.submitted[0].Program
	require.Equal(t, "bash", program.Language)
	require.Equal(t, "exec -- \"$@\"\n", string(program.Source))
	require.Equal(t, []string{"-n; rm", "$(reboot)", ""}, program.Args)
	require.Equal(t, 30*time.Second, program.Limits.WallTime.Duration())
	require.NoError(t, queue.submitted[0].Validate())
}

func TestInASessionJobsCarryItAndPythonAndNodeAreLive(t *testing.T) {
	t.Parallel()
	box, queue := setup(t, inSession())
	run := func(tool string, arguments object) jobs.Session {
		queue.finish(ok("x\n"))
		require.False(t, call(t, box, tool, arguments, nil).IsError)
		job := queue.submitted[len(queue.submitted)-1]
		require.Empty(t, job.Program.Outputs, "files are the session's")
		return *job.Session
	}
	require.Equal(t, jobs.Session{Name: "s1", Live: true}, run("run_code", object{"language": "python3", "code": "1"}))
	require.Equal(t, jobs.Session{Name: "s1", Live: true, Restart: true}, run("run_code", object{"language": "node", "code": "1", "restart": true}))
	require.Equal(t, jobs.Session{Name: "s1"}, run("run_code", object{"language": "bash", "code": "ls"}))
	require.Equal(t, jobs.Session{Name: "s1"}, run("run_command", object{"argv": []string{"ls"}}))

	got := call(t, box, "run_code", object{"language": "bash", "code": "ls", "restart": true}, nil)
	require.True(t, got.IsError)
	require.Equal(t, "[nothing was run: bash has no live interpreter that could be started anew. Call again without restart]", got.Text)
}

func TestWhatCannotRunIsNotSubmitted(t *testing.T) {
	t.Parallel()
	box, queue := setup(t)
	for _, c := range []struct {
		tool      string
		arguments object
		want      string
	}{
		{"run_code", object{"language": "cobol", "code": "x"}, `[nothing was run: language "cobol" is unknown: want one of bash, c, cpp, go, java, lua, node, perl, php, python, ruby, rust. Call again with one of these]`},
		{"submit_job", object{"language": "cobol", "code": "x"}, `[nothing was run: language "cobol" is unknown: want one of bash, c, cpp, go, java, lua, node, perl, php, python, ruby, rust. Call again with one of these]`},
		{"run_code", object{"language": "python", "code": "x", "files": []object{{"path": "a", "content": "&", "encoding": "base64"}}}, "[nothing was run: files[0].content is no base64 (illegal base64 data at input byte 0): want base64 or another encoding. Call again with that repaired]"},
		{"run_code", object{"language": "python", "code": "x", "files": []object{{"path": "../a", "content": ""}}}, `[nothing was run, since the call asks for what cannot be: program: files[0].path: "../a" is not a clean relative path below /workspace. Change that and call again]`},
		{"run_command", object{"argv": []string{"a\x00b"}}, "[nothing was run, since the call asks for what cannot be: program: args[0]: holds a NUL byte. Change that and call again]"},
		{"no_such_tool", object{}, `[there is no tool "no_such_tool". The tools are run_code, run_command, submit_job, wait_job, cancel_job]`},
	} {
		got := call(t, box, c.tool, c.arguments, nil)
		require.True(t, got.IsError)
		require.Equal(t, c.want, got.Text)
	}
	require.Empty(t, queue.submitted)
}

func TestAQueueThatCannotBeReached(t *testing.T) {
	t.Parallel()
	box, queue := setup(t)
	queue.submitErr = errors.New("dial tcp 127.0.0.1:1: connection refused")
	got := call(t, box, "run_code", object{"language": "python", "code": "1"}, nil)
	require.True(t, got.IsError)
	require.Equal(t, "[nothing was run, since the queue cannot be reached (dial tcp 127.0.0.1:1: connection refused). This is not your doing. Try once more; if it stays so, say in your answer that the sandbox is out of order]", got.Text)
	require.Len(t, queue.canceled, 1, "Redis may have the job all the same")

	queue.submitErr = jobs.ErrTooLarge
	require.Equal(t, "[nothing was run: it is too large. Pass less code, files and stdin]", call(t, box, "run_code", object{"language": "python", "code": "1"}, nil).Text)
}

func TestNoWorkerTakesTheJob(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		box, queue := setup(t)
		queue.workers, queue.onCancel = nil, canceledWith("")
		begun := time.Now()
		got := call(t, box, "run_code", object{"language": "python", "code": "1"}, nil)
		require.True(t, got.IsError)
		require.Equal(t, "[no worker took the job in 30 s, since none is running. This is not your doing: say in your answer that somebody must start a worker. The job was canceled]", got.Text)
		require.Equal(t, []string{got.JobID}, queue.canceled)
		require.Equal(t, 30*time.Second, time.Since(begun))
		box.Close()
	})
}

func TestWorkersThatAreBusyAreWaitedForLonger(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		box, queue := setup(t)
		begun := time.Now()
		got := call(t, box, "run_code", object{"language": "python", "code": "1"}, nil)
		require.True(t, got.IsError)
		require.Contains(t, got.Text, "[no worker took the job in 300 s, since all of them are busy or another job of the session runs.")
		require.Equal(t, []string{got.JobID}, queue.canceled)
		require.Equal(t, 302*time.Second, time.Since(begun), "and two more for the job to end, which this one does not")
		box.Close()
	})
}

func TestAJobThatIsTakenInTimeMayRunLong(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		box, queue := setup(t)
		queue.workers = nil
		time.AfterFunc(20*time.Second, func() { queue.set(jobs.Running) })
		time.AfterFunc(10*time.Minute, func() { queue.finish(ok("late\n")) })
		require.Equal(t, "late", call(t, box, "run_code", object{"language": "python", "code": "1"}, nil).Text)
		require.Empty(t, queue.canceled)
		box.Close()
	})
}

func TestAQueueThatStopsAnswering(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		box, queue := setup(t)
		queue.statusErr = errors.New("i/o timeout")
		begun := time.Now()
		got := call(t, box, "run_code", object{"language": "python", "code": "1"}, nil)
		require.True(t, got.IsError)
		require.Contains(t, got.Text, "[the queue has not answered for 30 s (i/o timeout). This is not your doing: try once more;")
		require.Less(t, time.Since(begun), 35*time.Second)
		box.Close()
	})
}

func TestTheEndOfTheContextCancelsTheJobAndKeepsItsOutput(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		box, queue := setup(t)
		queue.onCancel = canceledWith("begun\n")
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		got := callWithin(ctx, t, box, "run_code", object{"language": "python", "code": "1"}, nil)
		require.True(t, got.IsError)
		require.Equal(t, "begun\n[canceled: somebody ended the call before it was done. The output is what came until then. Do not repeat it unless you are asked to]", got.Text)
		require.Equal(t, []string{got.JobID}, queue.canceled)
		box.Close()
	})
}

func TestTheEndOfTheContextDoesNotWaitForAWorkerThatIsLost(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		box, queue := setup(t)
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		begun := time.Now()
		got := callWithin(ctx, t, box, "run_code", object{"language": "python", "code": "1"}, nil)
		require.Equal(t, "[canceled, since the run was ended: nothing more of the job "+got.JobID+" is known]", got.Text)
		require.Len(t, queue.canceled, 1)
		require.Equal(t, 3*time.Second, time.Since(begun))
		box.Close()
	})
}

func TestAJobThatIsFasterThanItsCancelHasItsResult(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		box, queue := setup(t)
		queue.workers, queue.onCancel = nil, func(f *fakeJobs) { f.finish(ok("done\n")) }
		require.Equal(t, "done", call(t, box, "run_code", object{"language": "python", "code": "1"}, nil).Text)
		box.Close()
	})
}

func TestAJobThatRedisForgot(t *testing.T) {
	t.Parallel()
	box, queue := setup(t)
	queue.done <- awaited{err: jobs.ErrNotFound}
	got := call(t, box, "run_code", object{"language": "python", "code": "1"}, nil)
	require.True(t, got.IsError)
	require.Equal(t, "[the job "+got.JobID+" is not known any more: it is too old, or the queue lost its data. Run the code again]", got.Text)
	require.Empty(t, queue.canceled)

	queue.done <- awaited{err: jobs.ErrClosed}
	require.Contains(t, call(t, box, "run_code", object{"language": "python", "code": "1"}, nil).Text, "client is closed")
}

func TestOnlyWhatDidNotRunIsAnError(t *testing.T) {
	t.Parallel()
	box, queue := setup(t)
	for _, outcome := range sandbox.Outcomes() {
		queue.finish(sandbox.Result{Outcome: outcome, Stdout: text("x\n")})
		wantError := map[sandbox.Outcome]bool{sandbox.OutcomeCanceled: true, sandbox.OutcomeRejected: true, sandbox.OutcomeInfraError: true}
		require.Equal(t, wantError[outcome], call(t, box, "run_code", object{"language": "python", "code": "1"}, nil).IsError, outcome)
	}
}

func TestProgressTellsStatesAndAllOutputOnce(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		box, queue := setup(t)
		out := func(data string) sandbox.Output {
			return sandbox.Output{Step: "run", Stream: sandbox.Stdout, Data: sandbox.Bytes(data)}
		}
		queue.pieces = []sandbox.Output{out("lost"), {Step: jobs.StepAttempt, Data: sandbox.Bytes("2")}, out("one\n"), {Step: "run", Stream: sandbox.Stderr, Data: sandbox.Bytes("err")}}
		time.AfterFunc(100*time.Millisecond, func() { queue.set(jobs.Running) })
		time.AfterFunc(time.Second, func() {
			result := ok("")
			result.Stdout, result.Stderr = sandbox.NewStream([]byte("one\ntwo\n"), []byte("tail"), 1000), text("err")
			queue.finish(result)
		})
		var told []string
		got := call(t, box, "run_code", object{"language": "python", "code": "1"}, func(p agent.Progress) {
			if p.Output != nil {
				told = append(told, string(p.Output.Stream)+" "+string(p.Output.Data))
			} else {
				told = append(told, p.State)
			}
			require.NotEmpty(t, p.JobID)
		})
		require.Equal(t, []string{"queued", "stdout lost", "running again", "stdout one\n", "stderr err", "running", "stdout two\n"}, told)
		require.True(t, queue.submitted[0].Follow)
		require.Contains(t, got.Text, "[... 988 of 1000 bytes are not shown ...]")
		box.Close()
	})
}

func TestOutputOfAShortJobComesWithItsResult(t *testing.T) {
	t.Parallel()
	box, queue := setup(t)
	queue.finish(sandbox.Result{Outcome: sandbox.OutcomeCompileError, Compile: &sandbox.Step{Stderr: text("error")}})
	var told []string
	call(t, box, "run_code", object{"language": "c", "code": "x"}, func(p agent.Progress) {
		if p.Output != nil {
			told = append(told, p.Output.Step+" "+string(p.Output.Data))
		}
	})
	require.Equal(t, []string{"compile error"}, told)
}

func TestCallsThatShareASessionTakeTurns(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		box, queue := setup(t, inSession())
		results := make(chan string, 2)
		for range 2 {
			go func() {
				results <- box.Call(t.Context(), agent.ToolCall{Name: "run_code", Arguments: `{"language": "python", "code": "1"}`}, nil).Text
			}()
		}
		synctest.Wait()
		require.Len(t, queue.submitted, 1, "the other waits, so that its time in the queue does not run")
		queue.finish(ok("first\n"))
		require.Equal(t, "first", <-results)
		synctest.Wait()
		require.Len(t, queue.submitted, 2)
		queue.finish(ok("second\n"))
		require.Equal(t, "second", <-results)

		waiting, cancel := context.WithCancel(t.Context())
		box.turn <- struct{}{}
		time.AfterFunc(time.Second, cancel)
		var told []agent.Progress
		got := callWithin(waiting, t, box, "run_code", object{"language": "python", "code": "1"}, func(p agent.Progress) { told = append(told, p) })
		require.Equal(t, "[canceled before it ran, since the run was ended]", got.Text)
		require.Equal(t, []agent.Progress{{State: "waiting for another call in the session"}}, told)
		box.Close()
	})
}

func TestAPanicIsAResult(t *testing.T) {
	t.Parallel()
	box, _ := setup(t, func(o *Options) { o.Jobs = nil })
	got := call(t, box, "run_code", object{"language": "python", "code": "1"}, nil)
	require.True(t, got.IsError)
	require.True(t, strings.HasPrefix(got.Text, "[the tool run_code failed in itself ("), got.Text)
	require.Contains(t, got.Text, "submit.go:")
}

func png(size int) []byte {
	return append([]byte("\x89PNG\r\n\x1a\n"), make([]byte, size-8)...)
}

func TestFiguresBecomeImagesWithinBounds(t *testing.T) {
	t.Parallel()
	box, queue := setup(t)
	result := ok("plotted\n")
	for _, name := range []string{"big.png", "given.png", "1.png", "2.png", "no.png", "3.png", "4.png", "5.png"} {
		result.Files = append(result.Files, sandbox.File{Path: name, Data: png(100)})
	}
	result.Files[0].Data, result.Files[4].Data = png(2<<20+1), []byte("text")
	queue.finish(result)
	got := call(t, box, "run_code", object{"language": "python", "code": "1", "files": []object{{"path": "given.png", "content": "x"}}}, nil)
	require.Len(t, got.Images, 4)
	require.Equal(t, agent.Image{Path: "1.png", MIME: "image/png", Data: png(100)}, got.Images[0])
	require.Equal(t, "4.png", got.Images[3].Path)
	require.Equal(t, "plotted\n[big.png is not attached: it has 2097153 bytes, want at most 2097152]\n[1.png is attached: image/png, 100 bytes]\n"+
		"[2.png is attached: image/png, 100 bytes]\n[3.png is attached: image/png, 100 bytes]\n[4.png is attached: image/png, 100 bytes]\n"+
		"[5.png is not attached: there are 4 images already]", got.Text)
}

func TestImagesOfASessionAreThoseThatTheCallWrote(t *testing.T) {
	t.Parallel()
	box, queue := setup(t, inSession(sandbox.File{Path: "old.png", Data: png(10)}, sandbox.File{Path: "new.PNG", Data: png(20)}, sandbox.File{Path: "data.csv", Data: []byte("1")}))
	finish := func(files []sandbox.File, written ...string) agent.ToolResult {
		result := ok("x\n")
		result.Files = files
		queue.done <- awaited{record: jobs.Record{Result: result, Session: &workspace.Report{Written: written, Live: &workspace.LiveReport{}}}}
		return call(t, box, "run_code", object{"language": "python", "code": "1"}, nil)
	}
	got := finish(nil, "new.PNG", "data.csv")
	require.Equal(t, []agent.Image{{Path: "new.PNG", MIME: "image/png", Data: png(20)}}, got.Images)
	require.Equal(t, "x\n[files written: new.PNG, data.csv]\n[new.PNG is attached: image/png, 20 bytes]", got.Text)

	got = finish([]sandbox.File{{Path: "figure-1.png", Data: png(30)}}, "new.PNG")
	require.Len(t, got.Images, 1, "a figure that is shown and saved is attached once")
	require.Equal(t, "figure-1.png", got.Images[0].Path)
	require.Empty(t, finish(nil).Images)
}
