package live_test

import (
	"context"
	"errors"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/sandloop/sandloop/internal/live"
	"github.com/sandloop/sandloop/internal/sandbox"
)

// loops are ways in which code does not come to its end: those that an interrupt ends, and those that it does not.
var loops = map[string]struct {
	obey, defy []string
	mark       string
}{
	"python": {
		obey: []string{
			"while True: pass", "import time; time.sleep(99)", "import os; os.system('sleep 99'); time.sleep(99)",
			"import asyncio; await asyncio.sleep(99)", "import threading; threading.Event().wait()", "import subprocess; subprocess.run(['sleep', '99'])",
		},
		defy: []string{
			"import time\nwhile True:\n    try:\n        time.sleep(99)\n    except BaseException:\n        pass",
			"import signal\nsignal.signal(signal.SIGINT, signal.SIG_IGN)\nwhile True: pass",
		},
		mark: "print('before'); open('kept', 'w').write('x');",
	},
	"node": {
		obey: []string{"while (true);", "await new Promise(() => setTimeout(() => {}, 99000));", "require('child_process').execSync('sleep 99')"},
		defy: []string{"await null; while (true);"},
		mark: "console.log('before'); require('fs').writeFileSync('kept', 'x');",
	},
}

func TestWallTimeInterrupts(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, language string) {
		s := start(t, language)
		s.do("x = 1")
		for _, loop := range loops[language].obey {
			cell := s.cell(loops[language].mark, loop)
			cell.WallTime = 300 * time.Millisecond
			from := time.Now()
			outcome := s.run(cell)
			require.Equal(t, sandbox.OutcomeWallTimeout, outcome.Result.Outcome, loop)
			require.Equal(t, -1, outcome.Result.ExitCode)
			require.True(t, outcome.Result.TimedOut)
			require.Equal(t, "stopped at the wall-clock limit of 0.3 s", outcome.Result.Message)
			require.Equal(t, "before\n", string(outcome.Result.Stdout.Data))
			require.Empty(t, outcome.Report.Ended, loop)
			require.Less(t, time.Since(from), 20*time.Second)
		}
		require.Equal(t, "1", s.value("x"))
	})
}

// The interrupt ends the process that the code waits for, too, so that the code can come to its own end before it is interrupted.
func TestAnInterruptEndsOneCellAlone(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, language string) {
		s := start(t, language)
		s.do("x = 1")
		loops := loops[language].obey
		for range 30 {
			cell := s.cell(loops[len(loops)-1])
			cell.WallTime = 20 * time.Millisecond
			require.Equal(t, sandbox.OutcomeWallTimeout, s.run(cell).Result.Outcome)
			require.Equal(t, "1", s.value("x"))
		}
	})
}

func TestWhatDefiesAnInterruptIsEnded(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, language string) {
		for _, loop := range loops[language].defy {
			s := start(t, language)
			cell := s.cell(loops[language].mark, loop)
			cell.WallTime = 300 * time.Millisecond
			outcome := s.run(cell)
			require.Equal(t, sandbox.OutcomeWallTimeout, outcome.Result.Outcome, loop)
			require.Equal(t, "before\n", string(outcome.Result.Stdout.Data))
			require.Equal(t, []sandbox.File{text("kept", "x")}, outcome.Changes.Written)
			require.Equal(t, "the code did not stop within 1 s of being interrupted, so it was ended", outcome.Report.Ended)
			<-s.Done()
		}
	})
}

func TestCancelInterrupts(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, language string) {
		s := start(t, language)
		ctx, cancel := context.WithCancelCause(t.Context())
		defer cancel(nil)
		cell := s.cell(loops[language].mark, loops[language].obey[0])
		var once sync.Once
		cell.OnOutput = func(o sandbox.Output) {
			once.Do(func() {
				require.Equal(t, sandbox.Output{Step: "run", Stream: sandbox.Stdout, Data: []byte("before\n")}, o)
				cancel(sandbox.ErrCanceled)
			})
		}
		outcome, err := s.Run(ctx, cell)
		require.NoError(t, err)
		require.Equal(t, sandbox.OutcomeCanceled, outcome.Result.Outcome)
		require.Equal(t, "before\n", string(outcome.Result.Stdout.Data))
		require.Empty(t, outcome.Report.Ended)
		require.Equal(t, "5", s.value("5"))
	})
}

func TestTheEndOfAContextEndsTheInterpreter(t *testing.T) {
	t.Parallel()
	s := start(t, "python")
	mine := errors.New("lease lost")
	ctx, cancel := context.WithCancelCause(t.Context())
	cell := s.cell("print('x', flush=True)", "while True: pass")
	cell.OnOutput = func(sandbox.Output) { cancel(mine) }
	_, err := s.Run(ctx, cell)
	require.ErrorIs(t, err, mine)
	<-s.Done()
	require.Equal(t, "lease lost", s.Reason())
}

func TestOutputIsKeptHeadAndTail(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, language string) {
		s := start(t, language)
		code := map[string]string{
			"python": "for i in range(100000): print(i)",
			"node":   "for (let i = 0; i < 100000; i++) process.stdout.write(i + '\\n')",
		}[language]
		cell := s.cell(code)
		cell.Output = 1000
		heard := 0
		cell.OnOutput = func(o sandbox.Output) { heard += len(o.Data) }
		stream := s.run(cell).Result.Stdout
		require.EqualValues(t, 588890, stream.Total) // 10*2 + 90*3 + 900*4 + 9000*5 + 90000*6
		require.True(t, stream.Truncated)
		require.Len(t, stream.Data, 1000)
		require.True(t, strings.HasPrefix(string(stream.Data), "0\n1\n2\n") && strings.HasSuffix(string(stream.Data), "99998\n99999\n"))
		require.Equal(t, 500, heard)
		require.Equal(t, "1", s.value("1"))
	})
}

func TestMemoryOfAChildAndOfTheInterpreter(t *testing.T) {
	t.Parallel()
	s := start(t, "python")
	s.do("import subprocess, sys")
	outcome := s.run(s.cell("subprocess.run([sys.executable, '-c', 'x = bytearray(400 << 20)']).returncode"))
	require.Equal(t, sandbox.OutcomeOutOfMemory, outcome.Result.Outcome)
	require.Equal(t, "the kernel killed a process for the memory limit of 256 MiB", outcome.Result.Message)
	require.EqualValues(t, 1, outcome.Result.OOMKills)
	require.Equal(t, "-9", outcome.Report.Value)
	require.Empty(t, outcome.Report.Ended)
	require.Zero(t, s.do("1").Result.OOMKills, "each is told once")
	outcome = s.run(s.cell("print('before')", "x = bytearray(400 << 20)"))
	require.Equal(t, sandbox.OutcomeOutOfMemory, outcome.Result.Outcome)
	require.Equal(t, 137, outcome.Result.ExitCode)
	require.EqualValues(t, 1, outcome.Result.OOMKills)
	require.Equal(t, "before\n", string(outcome.Result.Stdout.Data))
	require.Equal(t, "the kernel killed it for the memory limit of 256 MiB", outcome.Report.Ended)
	require.Equal(t, outcome.Report.Ended, s.Reason())
}

func TestAnEarlierKillIsNotToldAgain(t *testing.T) {
	t.Parallel()
	s := start(t, "python")
	s.run(s.cell("import subprocess, sys, os", "subprocess.run([sys.executable, '-c', 'x = bytearray(400 << 20)'])"))
	outcome := s.run(s.cell("os._exit(3)"))
	require.Equal(t, sandbox.OutcomeNonzeroExit, outcome.Result.Outcome)
	require.Equal(t, "it exited with code 3", outcome.Report.Ended)
}

func TestDiskFull(t *testing.T) {
	t.Parallel()
	s := start(t, "python")
	outcome := s.run(s.cell("f = open('/tmp/big', 'wb')", "while True: f.write(bytes(1 << 20))"))
	require.Equal(t, sandbox.OutcomeDiskFull, outcome.Result.Outcome)
	require.Equal(t, "/tmp was full: the limit is 64 MiB", outcome.Result.Message)
}

func TestCellsTakeTurns(t *testing.T) {
	t.Parallel()
	s := start(t, "python")
	s.do("x = 0")
	var all sync.WaitGroup
	for range 5 {
		all.Go(func() {
			for range 5 {
				_, err := s.Run(t.Context(), s.cell("y = x", "import time", "time.sleep(0.01)", "x = y + 1"))
				if err != nil {
					t.Error(err)
				}
			}
		})
	}
	all.Wait()
	require.Equal(t, "25", s.value("x"))
}

func TestHoldEndsIt(t *testing.T) {
	t.Parallel()
	s := start(t, "python", func(o *live.Options) { o.Hold = 5 * time.Second })
	<-s.Done()
	require.Equal(t, "its time was over", s.Reason())
	_, err := s.Run(t.Context(), s.cell("1"))
	require.ErrorIs(t, err, live.ErrEnded)
}

func TestCloseInTheMiddleOfACell(t *testing.T) {
	t.Parallel()
	s := start(t, "python")
	cell := s.cell("print('x')", "while True: pass")
	cell.OnOutput = func(sandbox.Output) { go s.Close() }
	_, err := s.Run(t.Context(), cell)
	require.ErrorContains(t, err, "it was closed")
	<-s.Done()
}

func TestWhatCannotStartIsRejected(t *testing.T) {
	t.Parallel()
	for name, change := range map[string]func(*live.Options){
		"a language":      func(o *live.Options) { o.Program.Language = "bash" },
		"too much memory": func(o *live.Options) { o.Program.Limits.Memory = new(int64); *o.Program.Limits.Memory = 1 << 50 },
		"a file's path":   func(o *live.Options) { o.Files = []sandbox.File{text("../x", "")} },
		"files and no memory": func(o *live.Options) {
			o.Files = []sandbox.File{text("x", strings.Repeat("x", 20<<20))}
			o.Program.Limits.Memory = new(int64)
			*o.Program.Limits.Memory = 32 << 20
		},
		"the environment": func(o *live.Options) { o.Program.Env = map[string]string{"PYTHONHOME": "/nowhere"} },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			options := live.Options{Program: sandbox.Program{Language: "python"}, Hold: time.Minute}
			change(&options)
			_, err := live.Start(t.Context(), setup(t), options)
			var rejected *live.RejectedError
			require.ErrorAs(t, err, &rejected)
			require.NotEmpty(t, rejected.Result.Message)
			require.False(t, rejected.Result.OK)
		})
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	_, err := live.Start(ctx, setup(t), live.Options{Program: sandbox.Program{Language: "python"}, Hold: time.Minute})
	require.ErrorIs(t, err, context.Canceled)
}
