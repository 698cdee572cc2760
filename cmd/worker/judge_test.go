package main

import (
	"context"
	"encoding/json"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"
	"github.com/stretchr/testify/require"

	"github.com/sandloop/sandloop/internal/grade"
	"github.com/sandloop/sandloop/internal/jobs"
	"github.com/sandloop/sandloop/internal/sandbox"
	"github.com/sandloop/sandloop/internal/testenv"
)

// A validator's sandbox waits for the next output for a while, so that there is one to remove at the end.
func TestAWorkerJudgesSubmissionsAndStopsWithoutATrace(t *testing.T) {
	t.Parallel()
	addr := testenv.RedisServer(t)
	rdb := redis.NewClient(&redis.Options{Addr: addr})
	t.Cleanup(func() { require.NoError(t, rdb.Close()) })
	w := start(t, onDocker(t)+"redis: {addr: \""+addr+"\"}\n", "--concurrency", "2")
	w.untilStarted(t)

	client := jobs.NewClient(rdb, jobs.ClientOptions{})
	defer func() { require.NoError(t, client.Close()) }()
	blobs, err := client.PutBlobs(t.Context(), []byte("1 2\n"), []byte("3\n"))
	require.NoError(t, err)
	validator := sandbox.Program{Language: "bash", Source: []byte(`read -r want <"$2"; read -r got
		[ "$want" = "$got" ] && exit 42; echo "wanted $want" >"$3/judgemessage.txt"; exit 43`)}
	suite := grade.Suite{
		Tests: []grade.Test{
			{Name: "1", Input: grade.Data{Blob: blobs[0], Size: 4}, Answer: grade.Data{Blob: blobs[1], Size: 2}},
			{Name: "2", Input: grade.Data{Inline: []byte("20 -5\n")}, Answer: grade.Data{Inline: []byte("15\n")}},
		},
		Checker: grade.Checker{Kind: grade.CheckValidator, Programs: []sandbox.Program{validator}},
	}
	text, err := json.Marshal(suite)
	require.NoError(t, err)
	stored, err := client.PutBlobs(t.Context(), text)
	require.NoError(t, err)

	judged := func(source, suite string) jobs.Record {
		submitted, err := client.Submit(t.Context(), jobs.Job{
			Program: sandbox.Program{Language: "bash", Source: []byte(source)}, Grade: &grade.Task{SuiteBlob: suite},
		})
		require.NoError(t, err)
		ctx, cancel := context.WithTimeout(t.Context(), testenv.Scale(t, patience))
		defer cancel()
		record, err := client.Await(ctx, submitted.ID)
		require.NoError(t, err)
		return record
	}
	right := judged("read a b; echo $((a + b))", stored[0])
	require.Equal(t, grade.AC, right.Grade.Verdict, right.Grade.Message)
	require.Len(t, right.Grade.Tests, 2)
	wrong := judged("read a b; echo $((a + 2))", stored[0])
	require.Equal(t, grade.WA, wrong.Grade.Verdict, wrong.Grade.Message)
	require.Equal(t, grade.AC, wrong.Grade.Tests[0].Verdict, "1 + 2 is right")
	require.Equal(t, "wanted 15", wrong.Grade.Tests[1].Message)
	absent := judged("read a b; echo $((a + b))", grade.BlobID([]byte("absent")))
	require.Equal(t, grade.IE, absent.Grade.Verdict)
	require.Contains(t, absent.Grade.Message, "submit again")
	require.Len(t, absent.Attempts, 1)

	installation, err := rdb.Get(t.Context(), "sandloop:installation").Result()
	require.NoError(t, err)
	stopped := time.Now()
	w.stop()
	code, said := w.end(t)
	require.Equal(t, 0, code, said)
	require.Less(t, time.Since(stopped), testenv.Scale(t, 20*time.Second), "the validator would have waited 30 s for another output")
	requireNoContainers(t, installation)
}
