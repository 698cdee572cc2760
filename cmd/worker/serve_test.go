package main

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"github.com/redis/go-redis/v9"
	"github.com/stretchr/testify/require"

	"github.com/sandloop/sandloop/config"
	"github.com/sandloop/sandloop/internal/jobs"
	"github.com/sandloop/sandloop/internal/sandbox"
	"github.com/sandloop/sandloop/internal/testenv"
)

// runOn submits a program to the Redis at addr and waits for its result.
func runOn(t *testing.T, rdb redis.UniversalClient, source string) sandbox.Result {
	t.Helper()
	client := jobs.NewClient(rdb, jobs.ClientOptions{})
	defer func() { require.NoError(t, client.Close()) }()
	submitted, err := client.Submit(t.Context(), jobs.Job{Program: sandbox.Program{Language: "bash", Source: []byte(source)}})
	require.NoError(t, err)
	ctx, cancel := context.WithTimeout(t.Context(), testenv.Scale(t, patience))
	defer cancel()
	record, err := client.Await(ctx, submitted.ID)
	require.NoError(t, err)
	return record.Result
}

func TestAWorkerRunsJobsAndStopsWithoutATrace(t *testing.T) {
	t.Parallel()
	addr := testenv.RedisServer(t)
	rdb := redis.NewClient(&redis.Options{Addr: addr})
	t.Cleanup(func() { require.NoError(t, rdb.Close()) })
	w := start(t, onDocker(t)+"redis: {addr: \""+addr+"\"}\n", "--concurrency", "2")
	w.untilStarted(t)

	result := runOn(t, rdb, "echo 6 times 7 is $((6*7))")
	require.Equal(t, sandbox.OutcomeOK, result.Outcome, result.Message)
	require.Equal(t, "6 times 7 is 42\n", string(result.Stdout.Data))

	installation, err := rdb.Get(t.Context(), "sandloop:installation").Result()
	require.NoError(t, err)
	w.stop()
	code, said := w.end(t)
	require.Equal(t, 0, code, said)
	requireNoContainers(t, installation)
}

func TestAWorkerServesItsOwnRedis(t *testing.T) {
	t.Parallel()
	addr := freeAddr(t)
	configuration := onDocker(t) + "redis: {embedded_addr: \"" + addr + "\"}\n"
	w := start(t, configuration, "--embedded")
	w.untilStarted(t)
	rdb := redis.NewClient(&redis.Options{Addr: addr})
	t.Cleanup(func() { require.NoError(t, rdb.Close()) })
	require.Equal(t, "hi\n", string(runOn(t, rdb, "echo hi").Stdout.Data))

	code, _, said := runNow(t, configuration, "--embedded")
	require.Equal(t, 1, code)
	require.Contains(t, said, addr+" is in use")
	require.Contains(t, said, "--redis "+addr)

	w.stop()
	code, said = w.end(t)
	require.Equal(t, 0, code, said)
}

func TestAWorkerWithoutAnyImageSaysHowToGetThem(t *testing.T) {
	t.Parallel()
	testenv.Docker(t)
	languages := filepath.Join(t.TempDir(), "languages.yaml")
	var rows string
	for _, name := range []string{"python", "node", "bash", "c", "cpp", "java", "go", "ruby", "perl", "php", "lua", "rust"} {
		rows += name + ": {image: \"sandloop-test/absent:1\"}\n"
	}
	require.NoError(t, os.WriteFile(languages, []byte(rows), 0o600))
	code, _, said := runNow(t, fmt.Sprintf("languages_file: %q\nredis: {embedded_addr: %q}\nsandbox: {init_path: %q}\nlog: {level: error}\n", languages, freeAddr(t), languages))
	require.Equal(t, 1, code)
	require.Contains(t, said, "image sandloop-test/absent:1 is absent, so these do not run: bash, c, cpp, go, java, lua, node, perl, php, python, ruby, rust")
	require.Contains(t, said, "docker pull sandloop-test/absent:1")
}

func TestHowToGetAnImage(t *testing.T) {
	t.Parallel()
	require.Equal(t, "scripts/setup.sh image full", howToGet("sandloop/full:latest"))
	require.Equal(t, "docker pull python:3.13-slim", howToGet("python:3.13-slim"))
}

func TestTheDefaultsAreThoseOfTheQueue(t *testing.T) {
	t.Parallel()
	c := config.Default()
	require.EqualValues(t, jobs.DefaultBodyLimit, c.Jobs.BodyLimit)
	require.Equal(t, jobs.DefaultPrefix, c.Redis.Prefix)
	weights := map[jobs.Queue]int{
		jobs.Interactive: c.Worker.Weights.Interactive, jobs.Default: c.Worker.Weights.Default, jobs.Batch: c.Worker.Weights.Batch,
	}
	require.Equal(t, jobs.DefaultWeights(), weights)
}

func TestTheLargestJobThatOneCanAllowIsTheLargestThatWorkersRead(t *testing.T) {
	t.Parallel()
	c := config.Default()
	c.Jobs.BodyLimit = config.Size(jobs.MaxBodyLimit)
	require.NoError(t, c.Validate())
	c.Jobs.BodyLimit++
	require.ErrorContains(t, c.Validate(), "jobs.body_limit")
}
