#!/usr/bin/env bash
# Runs the benchmarks one after the other, alone on the machine as far as that is up to
# us. Times depend on the machine; compare the ratios, which come from one run each.
set -euo pipefail
cd "$(dirname "$0")/.."
export SANDLOOP_INIT=${SANDLOOP_INIT:-$PWD/bin/sandbox-init}

bench() { # package, iterations, what it shows
	printf '\n%s\n' "$3"
	CI=true go test -run '^$' -bench . -benchtime "$2" -timeout 60m "./$1" | grep -E '^Benchmark|^FAIL|^panic|\.go:|Error'
}

bench internal/sandbox/supervisor 100x 'sandbox-init: time to ready, resident memory (wanted: under 10 ms, under 10 MiB)'
bench internal/sandbox/docker 15x 'One small Python program: bare process, warm and cold container, docker run
  (wanted: docker/cold at least 1.5; warm-1.5bare at most 15 ms)'
bench internal/jobs 3s 'The queue on a local redis-server (wanted: overhead p50 under 10 ms, SubmitMany over 10,000 jobs/s)'
bench internal/e2e 1x 'A worker process: resident memory over 1,000 jobs (wanted: flat); x += 1 in a live session over the queue
  (wanted: p50 under 15 ms) beside a bare interpreter'
