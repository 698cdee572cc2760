package e2e_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/sandloop/sandloop/internal/jobs"
	"github.com/sandloop/sandloop/internal/sandbox"
	"github.com/sandloop/sandloop/internal/testenv"
)

const (
	// benchPrograms is how many submissions of each language are judged, on one test each.
	benchPrograms = 200
	// benchParallel is how many are judged at once in every way.
	benchParallel = 2
	// benchRounds is how often each way is measured, in turn with the others.
	benchRounds = 3
)

// submission is a program of the comparison, which no other equals.
type submission struct {
	number           int
	language, source string
}

func (s submission) stdin() string    { return strconv.Itoa(s.number) + "\n" }
func (s submission) expected() string { return strconv.Itoa(7*s.number+1) + "\n" }

// submissions makes programs that read a number and print seven times it and 1.
func submissions(language string) (all []submission) {
	source := "# %d\nprint(7 * int(input()) + 1)\n"
	if language == "c" {
		source = "// %d\n#include <stdio.h>\nint main(void) { int n; if (scanf(\"%%d\", &n) != 1) return 1; printf(\"%%d\\n\", 7 * n + 1); }\n"
	}
	for i := range benchPrograms {
		all = append(all, submission{i, language, fmt.Sprintf(source, i)})
	}
	return all
}

// BenchmarkGrade judges 200 programs of a language, each on one test, in several ways in turn, and
// reports medians of programs a second and their ratios:
//
//	bare       compiler and program as plain processes in the unpacked image, without any sandbox
//	throwaway  enqueue batch: queue, worker, a container of its own for each submission
//	reuse      enqueue batch --reuse
//	go-judge   the server at SANDLOOP_GO_JUDGE, if that is set
func BenchmarkGrade(b *testing.B) {
	in, root := newInstallation(b), unpackImage(b)
	in.startWorker(b, fmt.Sprintf("SANDLOOP_WORKER_CONCURRENCY=%d", benchParallel), "SANDLOOP_LOG_LEVEL=warn")
	for _, language := range []string{"python", "c"} {
		b.Run(language, func(b *testing.B) {
			ways := map[string]func([]submission){
				"bare":      func(all []submission) { inParallel(all, func(s submission) { bareJudge(b, root, s) }) },
				"throwaway": func(all []submission) { in.benchBatch(b, all) },
				"reuse":     func(all []submission) { in.benchBatch(b, all, "--reuse") },
			}
			if url := os.Getenv("SANDLOOP_GO_JUDGE"); url != "" {
				ways["go-judge"] = func(all []submission) { inParallel(all, func(s submission) { goJudge(b, url, s) }) }
			}
			rates := map[string][]float64{}
			for b.Loop() {
				for range benchRounds {
					for _, name := range slices.Sorted(maps.Keys(ways)) {
						all := submissions(language)
						begun := time.Now()
						ways[name](all)
						rates[name] = append(rates[name], benchPrograms/time.Since(begun).Seconds())
					}
				}
			}
			b.ReportMetric(0, "ns/op")
			for name, measured := range rates {
				b.ReportMetric(median(measured), name+"/s")
			}
			b.ReportMetric(median(rates["reuse"])/median(rates["bare"]), "reuse/bare")
			b.ReportMetric(median(rates["throwaway"])/median(rates["bare"]), "throwaway/bare")
			if measured := rates["go-judge"]; measured != nil {
				b.ReportMetric(median(rates["reuse"])/median(measured), "reuse/go-judge")
			}
		})
	}
}

// BenchmarkGradeLatency judges one Python program after the other, bare and through the queue with reuse in turn.
func BenchmarkGradeLatency(b *testing.B) {
	in, root := newInstallation(b), unpackImage(b)
	in.startWorker(b, "SANDLOOP_WORKER_CONCURRENCY=1", "SANDLOOP_LOG_LEVEL=warn")
	client := jobs.NewClient(in.redis, jobs.ClientOptions{})
	b.Cleanup(func() { require.NoError(b, client.Close()) })
	one := 1.0
	times := map[string][]float64{}
	for b.Loop() {
		times = map[string][]float64{}
		for _, s := range submissions("python") {
			begun := time.Now()
			bareJudge(b, root, s)
			times["bare"] = append(times["bare"], milliseconds(begun))
			begun = time.Now()
			submitted, err := client.Submit(b.Context(), jobs.Job{Queue: jobs.Batch, Program: sandbox.Program{
				Language: s.language, Source: []byte(s.source), Stdin: []byte(s.stdin()), Reuse: "latency", Limits: sandbox.Overrides{CPUs: &one},
			}})
			require.NoError(b, err)
			record, err := client.Await(b.Context(), submitted.ID)
			require.NoError(b, err)
			require.Equal(b, s.expected(), string(record.Result.Stdout.Data))
			times["reuse"] = append(times["reuse"], milliseconds(begun))
		}
	}
	b.ReportMetric(0, "ns/op")
	b.ReportMetric(median(times["bare"]), "bare-p50-ms")
	b.ReportMetric(median(times["reuse"]), "reuse-p50-ms")
	b.ReportMetric(median(times["reuse"])-median(times["bare"]), "reuse-less-bare-ms")
}

func milliseconds(since time.Time) float64 { return float64(time.Since(since).Microseconds()) / 1000 }

func inParallel(all []submission, judge func(submission)) {
	next := make(chan submission)
	var workers sync.WaitGroup
	for range benchParallel {
		workers.Go(func() {
			for s := range next {
				judge(s)
			}
		})
	}
	for _, s := range all {
		next <- s
	}
	close(next)
	workers.Wait()
}

// benchBatch has a worker judge the programs through the command line.
func (in *installation) benchBatch(b *testing.B, all []submission, flags ...string) {
	b.Helper()
	dir := b.TempDir() // a file of results of its own, so that nothing is known from before
	path := filepath.Join(dir, "items.jsonl")
	var lines bytes.Buffer
	encoder := json.NewEncoder(&lines)
	for _, s := range all {
		require.NoError(b, encoder.Encode(map[string]any{
			"id": dir + strconv.Itoa(s.number), "language": s.language, "code": s.source,
			"stdin": s.stdin(), "expected": s.expected(),
		}))
	}
	require.NoError(b, os.WriteFile(path, lines.Bytes(), 0o600))
	got := in.enqueue(b, append([]string{"batch", path, "--results", filepath.Join(dir, "results.jsonl")}, flags...)...)
	require.Equal(b, 0, got.code, "%s%s", got.stdout, got.stderr)
}

// unpackImage makes a directory with the files of the image.
func unpackImage(b *testing.B) string {
	b.Helper()
	root := b.TempDir()
	id := docker(b, "create", testenv.Image(b), "true")
	defer docker(b, "rm", id)
	out, err := exec.CommandContext(b.Context(), "sh", "-c", `docker export "$0" | tar -xC "$1"`, id, root).CombinedOutput()
	require.NoError(b, err, string(out))
	return root
}

// bareJudge compiles and runs a program as plain processes, in a folder of its own.
func bareJudge(b *testing.B, root string, s submission) {
	dir, err := os.MkdirTemp(filepath.Join(root, "tmp"), "") //nolint:usetesting // must lie in the unpacked image
	require.NoError(b, err)
	defer func() { _ = os.RemoveAll(dir) }()
	run := func(stdin string, argv ...string) string {
		cmd := exec.CommandContext(b.Context(), argv[0], argv[1:]...)
		cmd.Env = []string{"PATH=/usr/bin:/bin", "PYTHONDONTWRITEBYTECODE=1"}
		cmd.Dir = strings.TrimPrefix(dir, root)
		cmd.Stdin = strings.NewReader(stdin)
		cmd.SysProcAttr = &syscall.SysProcAttr{Chroot: root}
		out, err := cmd.CombinedOutput()
		require.NoError(b, err, string(out))
		return string(out)
	}
	var got string
	if s.language == "c" {
		require.NoError(b, os.WriteFile(filepath.Join(dir, "main.c"), []byte(s.source), 0o600))
		run("", "/usr/bin/gcc", "-std=gnu17", "-O2", "-o", "main", "main.c", "-lm")
		got = run(s.stdin(), "./main")
	} else {
		require.NoError(b, os.WriteFile(filepath.Join(dir, "main.py"), []byte(s.source), 0o600))
		got = run(s.stdin(), "/usr/bin/python3", "main.py")
	}
	require.Equal(b, s.expected(), got)
}
