package toolbox

import (
	"context"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/sandloop/sandloop/internal/agent"
	"github.com/sandloop/sandloop/internal/testenv"
)

func TestCodeRunsInAContainerThroughTheQueue(t *testing.T) {
	t.Parallel()
	box := setupPlant(t, nil, nil)
	got := call(t, box, "run_code", object{"language": "python", "code": "print(6 * 7)"}, nil)
	require.Equal(t, "42", got.Text)
	require.False(t, got.IsError)
	require.NotEmpty(t, got.JobID)

	got = call(t, box, "run_code", object{
		"language": "python", "code": "import lib, sys\nprint(lib.double(int(input())))\nprint('to stderr', file=sys.stderr)\n1 / 0", "stdin": "21\n",
		"files": []object{{"path": "lib.py", "content": "def double(n): return 2 * n\n"}},
	}, nil)
	require.False(t, got.IsError)
	require.True(t, strings.HasPrefix(got.Text, "42\n[stderr]\nto stderr\nTraceback (most recent call last):\n"), got.Text)
	require.True(t, strings.HasSuffix(got.Text, "ZeroDivisionError: division by zero\n[exit code 1]"), got.Text)

	got = call(t, box, "run_command", object{"argv": []string{"printf", "<%s>", "a b", "$HOME", "*"}}, nil)
	require.Equal(t, "<a b><$HOME><*>", got.Text, "no shell reads the arguments")
	got = call(t, box, "run_command", object{"argv": []string{"cat", "-"}, "stdin": "in"}, nil)
	require.Equal(t, "in", got.Text)
	got = call(t, box, "run_command", object{"argv": []string{"-x"}}, nil)
	require.Contains(t, got.Text, "[exit code 127]\n[there is no command -x, and nothing can be installed.")
	got = call(t, box, "run_command", object{"argv": []string{"false"}}, nil)
	require.Equal(t, "[exit code 1]\n[the command failed and printed nothing]", got.Text)
	got = call(t, box, "run_command", object{"argv": []string{"ls"}}, nil)
	require.Equal(t, "[the command succeeded and printed nothing]", got.Text, "the workspace looks empty")
}

func TestOutputComesWhileTheProgramRuns(t *testing.T) {
	t.Parallel()
	box := setupPlant(t, nil, nil)
	var states []string
	var output strings.Builder
	var atFirst time.Time
	got := call(t, box, "run_code", object{"language": "bash", "code": "echo begun; sleep 2; seq 3; echo bad >&2"}, func(p agent.Progress) {
		if p.Output == nil {
			states = append(states, p.State)
			return
		}
		if output.Len() == 0 {
			atFirst = time.Now()
		}
		output.Write(p.Output.Data)
	})
	require.Greater(t, time.Since(atFirst), time.Second, "the first line came long before the end")
	require.Equal(t, "begun\n1\n2\n3\n[stderr]\nbad", got.Text)
	require.Equal(t, []string{"queued", "running"}, states)
	require.Len(t, output.String(), len("begun\n1\n2\n3\nbad\n"))
}

func TestTheEndOfTheContextEndsTheContainer(t *testing.T) {
	t.Parallel()
	box := setupPlant(t, nil, nil)
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	got := callWithin(ctx, t, box, "run_code", object{"language": "bash", "code": "echo begun; sleep 600", "timeout": 900}, func(p agent.Progress) {
		if p.Output != nil {
			cancel()
		}
	})
	require.True(t, got.IsError)
	require.True(t, strings.HasPrefix(got.Text, "begun\n[canceled: somebody ended the call before it was done."), got.Text)
	require.Eventually(t, func() bool { return box.runner.Stats().Open == 0 }, testenv.Scale(t, 20*time.Second), 20*time.Millisecond)
}

func TestWorkLongerThanATurn(t *testing.T) {
	t.Parallel()
	box := setupPlant(t, nil, nil)
	id := call(t, box, "submit_job", object{"language": "bash", "code": "echo begun; sleep 600"}, nil).JobID
	soFar := ""
	for range 60 { // a busy machine may take long to start a container
		if soFar = call(t, box, "wait_job", object{"id": id, "timeout": 1}, nil).Text; strings.HasPrefix(soFar, "begun") {
			break
		}
	}
	require.True(t, strings.HasPrefix(soFar, "begun\n[the job "+id+" is running and has not ended within 1 s."), soFar)
	require.Equal(t, "begun\n[the job "+id+" is canceled; any output is what came until then]", call(t, box, "cancel_job", object{"id": id}, nil).Text)

	id = call(t, box, "submit_job", object{"language": "bash", "code": "sleep 1; echo done"}, nil).JobID
	require.Equal(t, "done", call(t, box, "wait_job", object{"id": id}, nil).Text)
	require.Equal(t, "done", call(t, New(box.options), "wait_job", object{"id": id}, nil).Text, "by a process that was started later, too")
}

func TestOurOwnFailureIsNotTheModels(t *testing.T) {
	t.Parallel()
	box := setupPlant(t, image("perl", "sandloop/no-such-image:latest"), nil)
	got := call(t, box, "run_code", object{"language": "perl", "code": "print 42"}, nil)
	require.True(t, got.IsError)
	require.True(t, strings.HasPrefix(got.Text, "[the sandbox itself failed, not your code: "), got.Text)
	require.Contains(t, got.Text, "Make the same call once more")
}

func TestAFigureComesBackAsAnImage(t *testing.T) {
	t.Parallel()
	testenv.FullImage(t)
	box := setupPlant(t, image("python", fullImage), nil)
	code := "import matplotlib.pyplot as plt\nplt.plot([1, 2, 4])\nplt.savefig('curve.png')\nprint('saved')"
	got := call(t, box, "run_code", object{"language": "python", "code": code}, nil)
	require.Len(t, got.Images, 1, got.Text)
	require.Equal(t, "curve.png", got.Images[0].Path)
	require.Equal(t, "image/png", got.Images[0].MIME)
	require.Equal(t, "\x89PNG\r\n\x1a\n", string(got.Images[0].Data[:8]))
	require.Contains(t, got.Text, "saved\n[curve.png is attached: image/png, ")
}
