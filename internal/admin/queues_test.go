package admin

import (
	"encoding/json"
	"regexp"
	"strings"
	"testing"

	"github.com/hibiken/asynq"
	"github.com/stretchr/testify/require"
)

// asynq's own pages on the version of asynq that the worker has.
func TestTheQueuesPagesShowTasksWithoutTheirPayload(t *testing.T) {
	t.Parallel()
	_, rdb := startRedis(t)
	tasks := asynq.NewClientFromRedisClient(rdb)
	_, err := tasks.EnqueueContext(t.Context(), asynq.NewTask("sandloop:run", []byte(`{"id":"secret-id"}`)), asynq.Queue("sandloop:batch"), asynq.TaskID("task-1"))
	require.NoError(t, err)
	s := start(t, func(o *Options) { o.Queues = Queues(rdb) })

	got := s.get(t, "/queues/api/queues", password("", secret))
	require.Equal(t, 200, got.code, got.body)
	var list struct {
		Queues []struct {
			Queue   string `json:"queue"`
			Pending int    `json:"pending"`
		} `json:"queues"`
	}
	require.NoError(t, json.Unmarshal([]byte(got.body), &list))
	require.Len(t, list.Queues, 1)
	require.Equal(t, "sandloop:batch", list.Queues[0].Queue)
	require.Equal(t, 1, list.Queues[0].Pending)

	got = s.get(t, "/queues/api/queues/sandloop:batch/pending_tasks", password("", secret))
	require.Equal(t, 200, got.code, got.body)
	require.Contains(t, got.body, "task-1")
	require.Contains(t, got.body, "not shown")
	require.NotContains(t, got.body, "secret-id")
	got = s.get(t, "/queues/api/queues/sandloop:batch/tasks/task-1", password("", secret))
	require.Equal(t, 200, got.code, got.body)
	require.NotContains(t, got.body, "secret-id")

	require.Equal(t, 405, s.do(t, "DELETE", "/queues/api/queues/sandloop:batch/pending_tasks/task-1", password("", secret)).code)
	require.Equal(t, 405, s.do(t, "POST", "/queues/api/queues/sandloop:batch:pause", password("", secret)).code)
	require.Equal(t, 401, s.get(t, "/queues/api/queues").code)
	require.NoError(t, rdb.Ping(t.Context()).Err(), "the client is still the caller's")
}

func TestTheQueuesPagesLoadNothingFromElsewhere(t *testing.T) {
	t.Parallel()
	_, rdb := startRedis(t)
	s := start(t, func(o *Options) { o.Queues = Queues(rdb) })
	got := s.get(t, "/queues/", password("", secret))
	require.Equal(t, 200, got.code)
	policy := got.header.Get("Content-Security-Policy")
	require.Contains(t, policy, "default-src 'none'")
	require.NotContains(t, policy, "http", "no other host")
	require.NotContains(t, policy, "unsafe-eval")
	require.NotRegexp(t, "script-src[^;]*unsafe-inline", policy)
	scripts := regexp.MustCompile(`(?s)<script>(.*?)</script>`).FindAllStringSubmatch(got.body, -1)
	require.Len(t, scripts, 2, "the page is as it was")
	for _, script := range scripts {
		require.Contains(t, policy, allowed(script[1]), "or the page stays empty")
	}
	require.Contains(t, got.body, `FLAG_READ_ONLY="true"`)
	for _, source := range regexp.MustCompile(`<script src="([^"]*)"`).FindAllStringSubmatch(got.body, -1) {
		require.True(t, strings.HasPrefix(source[1], "/queues/static/"), source[1])
		script := s.get(t, source[1], password("", secret))
		require.Equal(t, 200, script.code)
		require.Equal(t, "application/javascript; charset=utf-8", script.header.Get("Content-Type"), "nosniff wants it")
		require.Equal(t, 401, s.get(t, source[1]).code)
	}
	require.Equal(t, "/queues/", s.get(t, "/queues").header.Get("Location"))
}
