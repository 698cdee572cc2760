package toolbox

import (
	"context"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/sandloop/sandloop/internal/agent"
	"github.com/sandloop/sandloop/internal/live"
	"github.com/sandloop/sandloop/internal/sandbox"
	"github.com/sandloop/sandloop/internal/sessions"
	"github.com/sandloop/sandloop/internal/testenv"
)

// setupSession is a plant whose worker has sessions, with a Toolbox in one.
func setupSession(t *testing.T, change func([]sandbox.Language)) *plant {
	t.Helper()
	return setupPlant(t, change, func(p *plant) {
		s := sessions.New(sessions.Options{
			Worker: workerID, Store: p.store, Quota: 64 * sandbox.MiB, MaxFiles: 1000, Runner: p.runner,
			Start: func(ctx context.Context, options live.Options) (sessions.Interpreter, error) {
				return live.Start(ctx, p.runner, options)
			},
			Alive: p.client.WorkerAlive, Languages: p.languages, Defaults: p.limits, Maxima: sandbox.DefaultMaxima(),
			Live: 2, IdleTimeout: time.Minute, AbsoluteTimeout: time.Hour,
		})
		p.sessions = s
		t.Cleanup(func() {
			ctx, cancel := context.WithTimeout(context.Background(), testenv.Scale(t, time.Minute))
			defer cancel()
			s.Close(ctx)
		})
	}, func(o *Options) { o.Session, o.Live = "s1", true })
}

// python runs code in the live interpreter.
func (p *plant) python(t *testing.T, lines ...string) agent.ToolResult {
	t.Helper()
	return call(t, p, "run_code", object{"language": "python", "code": strings.Join(lines, "\n")}, nil)
}

func TestALiveSessionKeepsVariablesAndFiles(t *testing.T) {
	t.Parallel()
	box := setupSession(t, nil)
	require.Equal(t, "[numbers.txt is written: 6 bytes]", call(t, box, "write_file", object{"path": "numbers.txt", "content": "1\n2\n3\n"}, nil).Text)
	got := box.python(t, "numbers = [int(line) for line in open('numbers.txt')]")
	require.Equal(t, "[the code ran and printed nothing. To see a value, end with it as an expression, or use print(...)]", got.Text)
	require.Equal(t, "[value]\n6", box.python(t, "sum(numbers)").Text)
	require.Equal(t, "doubled\n[files written: double.txt]", box.python(t, "open('double.txt', 'w').write(str(2 * sum(numbers)))", "print('doubled')").Text)
	require.Equal(t, "12", call(t, box, "read_file", object{"path": "double.txt"}, nil).Text)
	require.Equal(t, "12", call(t, box, "run_command", object{"argv": []string{"cat", "double.txt"}}, nil).Text)
	require.Equal(t, "       2  double.txt\n        6  numbers.txt\n[sizes are in bytes]", strings.Replace(call(t, box, "list_files", object{}, nil).Text, "        2", "       2", 1))

	require.Equal(t, "[files deleted: double.txt]\n[the command succeeded and printed nothing]", call(t, box, "run_command", object{"argv": []string{"rm", "double.txt"}}, nil).Text)
	got = box.python(t, "import os", "os.path.exists('double.txt'), len(numbers)")
	require.Equal(t, "[value]\n(False, 3)", got.Text, "the interpreter sees what others did to the files and has its variables")
}

func TestALiveInterpreterThatEndsOrIsStartedAnewSaysSo(t *testing.T) {
	t.Parallel()
	box := setupSession(t, nil)
	require.Equal(t, "[value]\n1", box.python(t, "x = 1", "x").Text)
	got := box.python(t, "x / 0")
	require.Contains(t, got.Text, "ZeroDivisionError: division by zero\n[exit code 1]")
	require.False(t, got.IsError)

	got = box.python(t, "import sys", "sys.exit(3)")
	require.Contains(t, got.Text, "[exit code 3]\n")
	require.Contains(t, got.Text, "[the interpreter ended: ")
	got = box.python(t, "'x' in globals()")
	require.Contains(t, got.Text, "[value]\nFalse\n[the interpreter was started anew for this call: ")

	require.Equal(t, "[value]\n2", box.python(t, "x = 2", "x").Text)
	got = call(t, box, "run_code", object{"language": "python", "code": "'x' in globals()", "restart": true}, nil)
	require.Contains(t, got.Text, "[value]\nFalse\n[the interpreter was started anew for this call: a restart was asked for. Variables, imports and functions of earlier calls are gone")

	got = call(t, box, "run_code", object{"language": "node", "code": "console.log(6 * 7)"}, nil)
	require.Contains(t, got.Text, "42\n[this ran as a program of its own, since the session's live interpreter is one of another language")
}

func TestNodeIsLiveToo(t *testing.T) {
	t.Parallel()
	box := setupSession(t, nil)
	node := func(code string) string {
		return call(t, box, "run_code", object{"language": "javascript", "code": code}, nil).Text
	}
	require.Equal(t, "[value]\n6", node("const numbers = [1, 2, 3]; numbers.reduce((a, b) => a + b)"))
	require.Equal(t, "3\n[files written: n.txt]", node("require('fs').writeFileSync('n.txt', 'x'); console.log(numbers.length)"))
	require.Contains(t, node("require('express')"), "[express is not installed, and nothing can be installed.")
	require.Equal(t, "x", call(t, box, "read_file", object{"path": "n.txt"}, nil).Text)
}

func TestLimitsInALiveInterpreterGiveTheirNotes(t *testing.T) {
	t.Parallel()
	box := setupSession(t, nil)
	got := call(t, box, "run_code", object{"language": "python", "code": "x = 7\nprint('step 1')\nimport time\ntime.sleep(60)", "timeout": 1}, nil)
	require.Contains(t, got.Text, "[time is over: ")
	require.Contains(t, got.Text, `Until then it wrote 7 bytes to stdout, at last the line "step 1". The interpreter lives on, with the variables as they were at that moment.`)
	require.Equal(t, "[value]\n7", box.python(t, "x").Text)

	got = box.python(t, "y = bytearray(400 << 20)")
	require.Contains(t, got.Text, "[out of memory: the limit is 256 MiB")
	require.Contains(t, got.Text, "[the interpreter ended: ")
	require.Contains(t, box.python(t, "1").Text, "[the interpreter was started anew for this call: ")

	got = box.python(t, "import requests")
	require.Contains(t, got.Text, "[requests is not installed, and nothing can be installed.")
	got = box.python(t, "import urllib.request", "urllib.request.urlopen('http://example.com')")
	require.Contains(t, got.Text, "[there is no network in the sandbox")
	got = box.python(t, "for i in range(100000): print(i)")
	require.Contains(t, got.Text, "bytes of stdout are shown, its beginning and its end. The rest was not kept.")
	got = box.python(t, "import os", "os.symlink('/etc/passwd', 'link')", "print('made')")
	require.Contains(t, got.Text, "[files are not kept: link (")
	got = box.python(t, "open('large', 'wb').write(os.urandom(70 << 20))")
	require.Contains(t, got.Text, "The session has its files as they were before this call.")
}

func TestAJobHasTheWorkspaceUntilItEnds(t *testing.T) {
	t.Parallel()
	box := setupSession(t, nil)
	id := call(t, box, "submit_job", object{"language": "bash", "code": "sleep 1; echo made > made.txt; echo done"}, nil).JobID
	require.Contains(t, box.python(t, "1").Text, "[nothing was run: the job "+id+" has the workspace until it ends.")
	require.Equal(t, "done\n[files written: made.txt]", call(t, box, "wait_job", object{"id": id}, nil).Text)
	require.Equal(t, "[value]\n'made\\n'", box.python(t, "open('made.txt').read()").Text)
}

func TestFiguresOfALiveSessionAreImages(t *testing.T) {
	t.Parallel()
	testenv.FullImage(t)
	box := setupSession(t, image("python", fullImage))
	got := box.python(t, "import matplotlib.pyplot as plt", "_ = plt.plot([1, 2, 4])")
	require.Len(t, got.Images, 1, got.Text)
	require.Equal(t, "image/png", got.Images[0].MIME)
	require.Contains(t, got.Text, got.Images[0].Path+" is attached: image/png, ")
	got = box.python(t, "import pandas as pd", "pd.DataFrame({'a': [1, 2]})")
	require.Contains(t, got.Text, "   a\n0  1\n1  2")
}
