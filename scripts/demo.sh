#!/usr/bin/env bash
# Shows the whole way of a job on this machine: a worker with a Redis inside it, real containers,
# and programs that go through the queue and come back. Every line of the tables compares what
# came back with what stands in examples/. Stops what it started and leaves nothing in Docker.
set -euo pipefail

root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
cd "$root/examples"
enqueue=$root/bin/enqueue
work=$(mktemp -d)
worker=
total=0 right=0

# shellcheck source=scripts/demo/show.sh
. "$root/scripts/demo/show.sh"
# shellcheck source=scripts/demo/worker.sh
. "$root/scripts/demo/worker.sh"
# shellcheck source=scripts/demo/grade.sh
. "$root/scripts/demo/grade.sh"

main() {
	for program in worker enqueue sandbox-init; do
		[[ -x $root/bin/$program ]] || { echo "demo: bin/$program is missing: run make build" >&2; exit 1; }
	done
	trap "finish demo" EXIT
	trap 'exit 130' INT
	trap 'exit 143' TERM
	start_worker

	title "Five languages, each in a container of its own"
	run python "count words, --top 3" 0 python/wordcount.expected python/wordcount.py --stdin python/text.txt -- --top 3
	run node "primes up to 50" 0 node/primes.expected node/primes.js -- 50
	run bash "add up standard input" 0 bash/sum.expected bash/sum.sh --stdin bash/numbers.txt
	run c "two source files: (3+4)x(10-4)" 0 c/calc.expected c/calc.c --file stack.c=c/stack.c --file stack.h=c/stack.h -- 3 4 + 10 4 - x
	run cpp "knapsack, at most 2 s" 0 cpp/knapsack.expected cpp/knapsack.cpp --stdin cpp/knapsack.in -t 2
	run python "a file in, files out" 0 python/report.expected python/report.py --file sales.csv=python/sales.csv --out 'out/**' --out-dir "$work"
	compare_file "its out/best.txt" "$work/out/best.txt" <<<north

	title "Programs that misbehave: a result, never an accident"
	run python "an endless loop, -t 2" 124 failures/endless_loop.expected failures/endless_loop.py -t 2
	run python "400 MB in 256 MiB" 137 failures/memory_hog.expected failures/memory_hog.py
	run python "a fork bomb, -t 2" 124 failures/fork_bomb.expected failures/fork_bomb.py -t 2
	run cpp "does not compile" 1 failures/compile_error.expected failures/compile_error.cpp
	run python "network and secrets" 0 failures/network.expected failures/network.py
	run python "bytes that are not text" 0 failures/invalid_utf8.expected failures/invalid_utf8.py

	grade_all
	stop_worker
	check_docker
	verdict demo
}

main "$@"
