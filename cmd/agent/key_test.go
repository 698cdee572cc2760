package main

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/sandloop/sandloop/internal/agent"
	"github.com/sandloop/sandloop/internal/agent/wiretest"
)

// canary is a key that must be in the requests to the provider and nowhere else.
const canary = "sk-canary-0123456789abcdef"

// shapes has the recorded answers of chat completions.
const shapes = "../../internal/agent/openai/testdata/"

func TestTheKeyGoesToTheProviderAndNowhereElse(t *testing.T) {
	t.Parallel()
	b := setup(t, prints("42\n"))
	b.env["OPENAI_API_KEY"] = canary
	server := wiretest.Serve(t, wiretest.Reply{File: shapes + "parallel.sse"}, wiretest.Reply{File: shapes + "text.sse"})
	out := filepath.Join(b.dir, "t.json")
	got := b.agent(t, "Six times seven?", "--base-url", server.URL+"/v1", "--model", "gpt-5-mini", "--transcript", out, "--session", "s")
	require.Equal(t, 0, got.code, got.stderr)
	require.Equal(t, "Six times seven – 42.\n", got.stdout)
	require.Contains(t, got.stderr, "[1] > run_code language=python\n[1]     print(6*7)\n")
	require.Contains(t, got.stderr, "[2] > list_files\n")
	require.Contains(t, got.stderr, "[1]   | 42\n")
	require.Contains(t, got.stderr, "; tokens: 1600 in, 92 out")

	for _, request := range server.Requests() {
		require.Equal(t, "Bearer "+canary, request.Header.Get("Authorization"))
		require.NotContains(t, request.Body, canary)
	}
	transcript := load(t, out)
	require.Equal(t, "openai", transcript.Provider)
	require.Equal(t, agent.StopAnswer, transcript.Stop)
	everything, err := json.Marshal(struct {
		Ran        ran
		Out, Err   string
		Transcript *agent.Transcript
		Jobs       any
	}{got, got.stdout, got.stderr, transcript, b.sessions.all()})
	require.NoError(t, err)
	require.Contains(t, string(everything), "print(6*7)", "or nothing was looked at")
	require.NotContains(t, string(everything), canary)
	stored := b.dump(t.Context(), t)
	require.Contains(t, stored, "sandloop", "or nothing was looked at")
	require.NotContains(t, stored, canary)
}

// dump is all that is in Redis, keys and values.
func (b *bench) dump(ctx context.Context, t *testing.T) string {
	t.Helper()
	var all strings.Builder
	keys, err := b.rdb.Keys(ctx, "*").Result()
	require.NoError(t, err)
	for _, key := range keys {
		value, err := b.rdb.Dump(ctx, key).Result()
		require.NoError(t, err, key)
		fmt.Fprintf(&all, "%s %s\n", key, value)
	}
	return all.String()
}

func TestAKeyThatAProviderRepeatsIsNotShown(t *testing.T) {
	t.Parallel()
	b := setup(t, prints(""))
	b.env["OPENAI_API_KEY"], b.env["ANTHROPIC_API_KEY"] = canary, canary
	for _, name := range []string{"openai", "anthropic"} {
		body := `{"error":{"type":"authentication_error","message":"Incorrect: ECHO"}}`
		server := wiretest.Serve(t, wiretest.Reply{Status: http.StatusUnauthorized, Body: body, Echo: true})
		out := filepath.Join(b.dir, name+".json")
		got := b.agent(t, "Hello", "--provider", name, "--base-url", server.URL, "--model", "m", "--transcript", out, "--json")
		require.Equal(t, exitNoAnswer, got.code, got.stderr)
		require.Contains(t, got.stderr, "agent: no answer: model provider: key not accepted (status 401)")
		problem := load(t, out).Problem
		require.Contains(t, problem, "Incorrect: ")
		require.NotContains(t, got.stdout+got.stderr+problem, canary)
		require.Len(t, server.Requests(), 1)
	}
}

func TestAKeyOfSpacesIsNone(t *testing.T) {
	t.Parallel()
	b := &bench{env: map[string]string{"OPENAI_API_KEY": " \n"}}
	got := b.agent(t, "Hello")
	require.Contains(t, got.stderr, "there is no model")
}
