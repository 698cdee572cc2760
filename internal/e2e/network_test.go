package e2e_test

import (
	"encoding/json"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/sandloop/sandloop/internal/sandbox"
	"github.com/sandloop/sandloop/internal/sandbox/labels"
)

// egress are settings that give the tenant acme a network, in which there is one name.
var egress = []string{
	`SANDLOOP_NETWORK_RULES=[{tenants: [acme], domains: [one.invalid], max_bytes: 1MiB, timeout: 10s}]`, "SANDLOOP_REAPER_PERIOD=5s", "SANDLOOP_REAPER_GRACE=1s",
}

// networks lists the names of an owner's networks.
func networks(t *testing.T, owner string) string {
	t.Helper()
	return docker(t, "network", "ls", "--format", "{{.Name}}", "--filter", "label="+labels.Owner+"="+owner)
}

func TestNetworksAndProxyOfAKilledWorkerGo(t *testing.T) {
	in := newInstallation(t)
	first := in.startWorker(t, egress...)
	owner := in.workerID(t, first.process.Process.Pid)
	program := in.file(t, "slow.py", "import time\nprint('begun', flush=True)\ntime.sleep(8)\nprint('done')\n")
	got := in.enqueue(t, "submit", "--network", "--tenant", "acme", program)
	require.Equal(t, 0, got.code, got.stderr)
	id := strings.TrimSpace(got.stdout)
	require.Eventually(t, func() bool {
		return in.status(t, id).State == "running" && strings.Contains(networks(t, owner), "sandloop-lane-")
	}, bound, 100*time.Millisecond)
	require.Contains(t, containers(t, labels.Owner+"="+owner), "-egress")
	second := in.startWorker(t, egress...)
	require.NoError(t, first.process.Process.Signal(syscall.SIGKILL))
	require.Equal(t, -1, first.requireEnd(t))

	require.Eventually(t, func() bool { return containers(t, labels.Owner+"="+owner) == "" && networks(t, owner) == "" }, bound, 200*time.Millisecond)
	require.Equal(t, 0, in.enqueue(t, "wait", id).code)
	require.Equal(t, "begun\ndone\n", in.enqueue(t, "result", id).stdout)

	other := in.workerID(t, second.process.Process.Pid)
	require.NoError(t, second.process.Process.Signal(syscall.SIGTERM))
	require.Equal(t, 0, second.requireEnd(t))
	require.Empty(t, networks(t, other))
}

func TestAJobsRecordTellsWhatItDidWithItsNetwork(t *testing.T) {
	in := newInstallation(t)
	w := in.startWorker(t, egress...)
	program := in.file(t, "get.py", "import urllib.request\ntry: urllib.request.urlopen('https://two.invalid/')\nexcept OSError as e: print(e)\n")
	got := in.enqueue(t, "run", "--network", "--tenant", "acme", "--json", program)
	require.Equal(t, 0, got.code, got.stderr)
	var record struct {
		Result sandbox.Result `json:"result"`
	}
	require.NoError(t, json.Unmarshal([]byte(got.stdout), &record), got.stdout)
	const reason = "two.invalid is not among network.rules[0].domains (one.invalid)"
	require.Contains(t, string(record.Result.Stdout.Data), "403 sandloop: "+reason)
	require.NotNil(t, record.Result.Network)
	require.EqualValues(t, 1, record.Result.Network.Refused)
	require.Equal(t, reason, record.Result.Network.Connections[0].Reason)
	require.Contains(t, w.log.String(), reason, "operators find it in the log")

	got = in.enqueue(t, "run", "--network", "--tenant", "other", program)
	require.NotEqual(t, 0, got.code)
	require.Contains(t, got.stderr, `no rule gives the tenant "other" one`)
}
