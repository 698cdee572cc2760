package toolbox

import (
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/sandloop/sandloop/internal/agent"
	"github.com/sandloop/sandloop/internal/jobs"
	"github.com/sandloop/sandloop/internal/sandbox"
	"github.com/sandloop/sandloop/internal/testenv"
	"github.com/sandloop/sandloop/internal/workspace"
)

// setupRedis makes a Toolbox on a real queue that nobody serves.
func setupRedis(t *testing.T, wait time.Duration) (*Toolbox, *jobs.Client, *testenv.Redis) {
	t.Helper()
	server := testenv.StartRedis(t)
	rdb, err := jobs.ConnectRedis(jobs.RedisOptions{Addr: server.Addr})
	require.NoError(t, err)
	client := jobs.NewClient(rdb, jobs.ClientOptions{})
	box := New(Options{
		Jobs: client, Workspace: workspace.New(rdb, workspace.Options{}), Languages: languages(t), Tenant: "alice", Session: "s1", WorkerWait: wait,
	})
	t.Cleanup(func() {
		box.Close()
		require.NoError(t, client.Close())
		require.NoError(t, rdb.Close())
	})
	return box, client, server
}

func TestAJobThatNoWorkerTookIsNotRunLater(t *testing.T) {
	t.Parallel()
	box, client, _ := setupRedis(t, time.Second)
	got := call(t, box, "run_code", object{"language": "python", "code": "1"}, nil)
	require.True(t, got.IsError)
	require.Equal(t, "[no worker took the job in 1 s, since none is running. This is not your doing: say in your answer that somebody must start a worker. The job was canceled]", got.Text)
	record, err := client.Result(t.Context(), got.JobID)
	require.NoError(t, err)
	require.Equal(t, sandbox.OutcomeCanceled, record.Result.Outcome)
}

func TestARedisThatIsGoneIsAResultOfEveryTool(t *testing.T) {
	t.Parallel()
	box, _, server := setupRedis(t, time.Second)
	server.End(syscall.SIGKILL)
	for tool, arguments := range map[string]object{
		"run_code":   {"language": "python", "code": "1"},
		"submit_job": {"language": "python", "code": "1"},
		"wait_job":   {"id": "k1"},
		"cancel_job": {"id": "k1"},
		"write_file": {"path": "a", "content": "b"},
		"read_file":  {"path": "a"},
		"list_files": {},
	} {
		begun := time.Now()
		got := call(t, box, tool, arguments, nil)
		require.True(t, got.IsError, tool)
		require.Contains(t, got.Text, "cannot be reached", tool)
		require.Contains(t, got.Text, "This is not your doing", tool)
		require.Less(t, time.Since(begun), testenv.Scale(t, 30*time.Second), tool)
	}
}

func TestARedisThatGoesWhileAJobWaits(t *testing.T) {
	t.Parallel()
	box, _, server := setupRedis(t, 3*time.Second)
	got := call(t, box, "run_code", object{"language": "python", "code": "1"}, func(p agent.Progress) {
		if p.State == "queued" {
			server.End(syscall.SIGKILL)
		}
	})
	require.True(t, got.IsError)
	require.Contains(t, got.Text, "[the queue has not answered for 3 s (")
}
