package live_test

import (
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/sandloop/sandloop/internal/live"
	"github.com/sandloop/sandloop/internal/sandbox"
)

// attacks are what code may do to its interpreter. Whatever becomes of that, the cell has an outcome, and so has the next, and another
// interpreter starts.
var attacks = map[string]map[string]string{
	"python": {
		"closes all descriptors":        "import os; os.closerange(0, 1024)",
		"closes the standard streams":   "import os; os.close(0); os.close(1); os.close(2)",
		"closes sys.stdout":             "import sys; sys.stdout.close(); sys.stderr.close(); sys.stdin.close()",
		"forgets the streams":           "import sys; sys.stdout = sys.stderr = sys.stdin = None",
		"writes garbage to all":         "import os\nfor fd in range(64):\n    try: os.write(fd, b'\\xff' * 64)\n    except OSError: pass",
		"writes frames to all":          "import os\nfor fd in range(64):\n    try: os.write(fd, b'\\0\\0\\0\\x0c\\0\\0\\0\\0{\"t\":\"what\"}')\n    except OSError: pass",
		"announces a huge frame":        "import os\nfor fd in range(3, 64):\n    try: os.write(fd, b'\\x7f' * 8)\n    except OSError: pass",
		"writes without end":            "while True: print('x' * 100000)",
		"forks without end":             "import os\nwhile True:\n    try: os.fork()\n    except OSError: pass",
		"starts threads without end":    "import threading, time\nwhile True: threading.Thread(target=time.sleep, args=(99,)).start()",
		"kills everything":              "import os; os.kill(-1, 9)",
		"stops the driver":              "import os, time; os.kill(os.getppid(), 19); time.sleep(99)",
		"stops itself":                  "import os; os.kill(os.getpid(), 19)",
		"patches what the driver calls": "import builtins, json, os\njson.dumps = json.loads = os.write = os.read = builtins.compile = builtins.eval = builtins.isinstance = None",
		"removes the modules":           "import sys; sys.modules.clear()",
		"runs deep":                     "import sys; sys.setrecursionlimit(10**9)\ndef f(): return f()\nf()",
		"raises what cannot be shown":   "class E(Exception):\n    def __str__(self): raise self\nraise E",
		"raises SystemExit with a trap": "class E:\n    def __str__(self): raise self\nraise SystemExit(E())",
		"displays without end":          "while True: display('x' * 100000)",
		"writes names without end":      "i = 0\nwhile True:\n    i += 1\n    open('f%d' % i, 'w').close()",
		"removes its folder":            "import os, shutil; shutil.rmtree('/workspace', ignore_errors=True); os.chdir('/'); os.chmod('/workspace', 0)",
	},
	"node": {
		"closes all descriptors":        "for (let fd = 0; fd < 64; fd++) try { require('fs').closeSync(fd) } catch {}",
		"destroys the streams":          "process.stdout.destroy(); process.stderr.end(); process.stdin.destroy();",
		"writes garbage to all":         "for (let fd = 0; fd < 64; fd++) try { require('fs').writeSync(fd, Buffer.alloc(64, 255)) } catch {}",
		"writes without end":            "for (;;) console.log('x'.repeat(100000))",
		"starts processes without end":  "for (;;) try { require('child_process').spawn('sleep', ['99']).on('error', () => {}) } catch {}",
		"kills everything":              "process.kill(-1, 'SIGKILL')",
		"stops the driver":              "process.kill(process.ppid, 'SIGSTOP'); await new Promise(() => setInterval(() => {}, 999))",
		"patches what the driver calls": "globalThis = {}; Buffer.concat = JSON.stringify = JSON.parse = setImmediate = Map.prototype.set = null; process.stdout.write = null",
		"fills the heap":                "const all = []; for (;;) all.push(new Array(1000).fill(all.length))",
		"throws what cannot be shown":   "throw { [require('util').inspect.custom]() { throw this } }",
		"throws nothing":                "throw undefined",
		"traps then":                    "({ get then() { throw 1 } })",
		"exits in a promise":            "Promise.resolve().then(() => process.exit(4)); await new Promise((r) => setTimeout(r, 5000))",
		"aborts":                        "process.abort()",
		"rejects for ever":              "const f = () => { setImmediate(f); Promise.reject(1) }; f()",
		"runs deep":                     "const f = () => f(); f()",
		"writes names without end":      "for (let i = 0; ; i++) require('fs').writeFileSync('f' + i, '')",
	},
}

func TestHostileCode(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, language string) {
		for name, attack := range attacks[language] {
			t.Run(name, func(t *testing.T) {
				s := start(t, language)
				cell := s.cell(attack)
				cell.WallTime = 2 * time.Second
				from := time.Now()
				outcome := s.run(cell)
				require.Less(t, time.Since(from), 50*time.Second)
				t.Logf("%s, exit code %d, %s, ended: %s, %d bytes, %.300q", outcome.Result.Outcome, outcome.Result.ExitCode, outcome.Result.Message,
					outcome.Report.Ended, outcome.Result.Stdout.Total, outcome.Result.Stderr.Data)
				require.LessOrEqual(t, len(outcome.Result.Stdout.Data), 64<<10)
				if outcome.Report.Ended != "" {
					<-s.Done()
					return
				}
				cell.Source = "1 + 1"
				next, err := s.Run(t.Context(), cell)
				if err != nil {
					require.ErrorContains(t, err, "interpreter has ended")
					return
				}
				t.Logf("and then %s, ended: %s, value %s, %.300q", next.Result.Outcome, next.Report.Ended, next.Report.Value, next.Result.Stderr.Data)
				require.True(t, next.Report.Ended != "" || next.Report.Value == "2" || name == "rejects for ever")
			})
		}
		require.Equal(t, "2", start(t, language).value("1 + 1"))
	})
}

// Code can write into the pipe of its parent, and so in the driver's name.
func TestAForgedGoodbyeHoldsNobodyUp(t *testing.T) {
	t.Parallel()
	s := start(t, "python")
	s.do("import os, struct", `h = b'{"t":"gone","cell":0}'`, "f = open('/proc/%d/fd/1' % os.getppid(), 'wb', 0)",
		"_ = f.write(struct.pack('>II', len(h), 0) + h)", "f.close()")
	late := time.AfterFunc(2*time.Minute, func() {
		t.Error("the next call still waits")
		s.Close()
	})
	defer late.Stop()
	_, err := s.Run(t.Context(), s.cell("1"))
	require.ErrorIs(t, err, live.ErrEnded)
	<-s.Done()
}

func TestAForkBombIsOver(t *testing.T) {
	t.Parallel()
	s := start(t, "python")
	cell := s.cell("import os, time", "for i in range(200):", "    try:", "        if os.fork() == 0: time.sleep(99)", "    except OSError: break", "os.kill(0, 0)")
	outcome := s.run(cell)
	require.Equal(t, sandbox.OutcomePIDsLimit, outcome.Result.Outcome)
	require.True(t, strings.HasPrefix(outcome.Result.Message, "a process or thread was refused: the limit is 64"))
	require.Equal(t, "5", s.value("5"))
}
