package main

import (
	"bytes"
	"io"
	"log/slog"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"

	"github.com/sandloop/sandloop/internal/e2e/scale"
	"github.com/sandloop/sandloop/internal/jobs"
	"github.com/sandloop/sandloop/internal/testenv"
)

func TestMain(m *testing.M) {
	if scale.IsChild(os.Args) {
		os.Exit(scale.RunChild(os.Args))
	}
	jobs.LogRedis(slog.New(slog.DiscardHandler))
	goleak.VerifyTestMain(m)
}

func TestDispatchCountsWhatWorkersStart(t *testing.T) {
	t.Parallel()
	if _, err := exec.LookPath("redis-server"); err != nil {
		testenv.RedisServer(t) // skips, or fails in CI
	}
	s := &simulation{window: time.Second, stderr: io.Discard}
	redis, err := startServer(t.Context(), io.Discard)
	require.NoError(t, err)
	defer func() { require.NoError(t, redis.stop()) }()
	produced, err := s.produce(redis.addr, 2, 2*chunk)
	require.NoError(t, err)
	require.Equal(t, 2*chunk, produced.Jobs)
	table := newDispatchTable("dispatch")
	require.NoError(t, s.dispatch(t.Context(), table, redis, redis.addr, 0, 200*time.Millisecond, 2))
	require.Len(t, table.rows, 1)
	row := map[string]string{}
	for i, column := range table.columns {
		row[column] = table.rows[0][i]
	}
	require.Equal(t, "200", row["run_ms"])
	require.Equal(t, "2", row["workers"])
	require.Equal(t, "20", row["slots"])
	require.Equal(t, "100", row["possible_per_s"], "20 slots, each 5 jobs a second")
	number := func(column string) float64 {
		value, err := strconv.ParseFloat(row[column], 64)
		require.NoError(t, err, column)
		return value
	}
	require.Positive(t, number("started_per_s"))
	require.Less(t, number("started_per_s"), 125.0, "a slot begins a job more at most while it is counted")
	require.GreaterOrEqual(t, number("scripts_per_job"), 3.0, "to take, begin and finish a job are scripts")
	require.Greater(t, number("commands_per_job"), number("scripts_per_job"))
	require.LessOrEqual(t, number("least_share"), 1.0)
	require.GreaterOrEqual(t, number("most_share"), 1.0)
}

func TestWhatIsFull(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		rate rate
		busy float64
		want string
	}{
		"slots before all":                     {rate{redis: 0.95, machine: 1e6}, 0.95, "slots"},
		"the thread of Redis":                  {rate{redis: 0.95, machine: 1e6}, 0.5, "redis"},
		"the processors":                       {rate{redis: 0.5, machine: 1e6}, 0.5, "processors"},
		"nothing, so everybody waits for them": {rate{redis: 0.5, machine: 0.1}, 0.5, "round trips"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			require.Equal(t, test.want, test.rate.full(test.busy))
		})
	}
}

func TestTableIsWrittenAsCSV(t *testing.T) {
	t.Parallel()
	table := newTable("speed", "name", "rate")
	table.add("a, b", 123.456)
	table.add(7, 12.345)
	table.add("", 0.5)
	path := filepath.Join(t.TempDir(), "speed.csv")
	var shown bytes.Buffer
	require.NoError(t, table.write(path, &shown))
	content, err := os.ReadFile(path)
	require.NoError(t, err)
	require.Equal(t, "name,rate\n\"a, b\",123\n7,12.3\n,0.50\n", string(content))
	require.Contains(t, shown.String(), "a, b")
	require.Error(t, table.write(filepath.Join(path, "no folder"), io.Discard))
}

func TestUnknownMeasurementIsRefused(t *testing.T) {
	t.Parallel()
	err := run(t.Context(), []string{"--out", t.TempDir(), "everything"}, io.Discard, io.Discard)
	require.ErrorContains(t, err, `"everything" is no measurement: want enqueue, queue, delay, share or idle`)
	err = run(t.Context(), []string{"--out", t.TempDir(), "--jobs", "1"}, io.Discard, io.Discard)
	require.ErrorContains(t, err, "want at least 1000")
}

// An echo through the proxy takes its delay twice and is whole.
func TestProxyDelaysBothDirections(t *testing.T) {
	t.Parallel()
	const delay = 30 * time.Millisecond
	listener, err := (&net.ListenConfig{}).Listen(t.Context(), "tcp", "127.0.0.1:0")
	require.NoError(t, err)
	echoed := make(chan error, 1)
	go func() {
		conn, err := listener.Accept()
		if err == nil {
			_, err = io.Copy(conn, conn)
			_ = conn.Close()
		}
		echoed <- err
	}()
	proxy, err := startProxy(t.Context(), listener.Addr().String(), delay)
	require.NoError(t, err)
	conn, err := (&net.Dialer{}).DialContext(t.Context(), "tcp", proxy.addr)
	require.NoError(t, err)
	sent := bytes.Repeat([]byte("0123456789"), 10_000)
	began := time.Now()
	_, err = conn.Write(sent)
	require.NoError(t, err)
	got := make([]byte, len(sent))
	_, err = io.ReadFull(conn, got)
	require.NoError(t, err)
	require.GreaterOrEqual(t, time.Since(began), 2*delay)
	require.Equal(t, sent, got)
	require.NoError(t, conn.Close())
	require.NoError(t, <-echoed)
	require.NoError(t, proxy.stop())
	require.NoError(t, listener.Close())
}
