#!/usr/bin/env bash
# Measures grading: programs a second in containers thrown away, in containers used again
# and without any sandbox, in turn in one run. Compare the ratios; times depend on the machine.
set -euo pipefail
cd "$(dirname "$0")/.."
export SANDLOOP_INIT=${SANDLOOP_INIT:-$PWD/bin/sandbox-init}

usage() {
	cat <<-END
		Usage: scripts/bench-grade.sh [--go-judge URL]

		  --go-judge URL   measure a running go-judge server too, such as http://127.0.0.1:5050;
		                   it needs python3 and gcc where it mounts them from, as our image has them
	END
}

while [[ $# -gt 0 ]]; do
	case $1 in
	--go-judge)
		[[ $# -ge 2 ]] || { usage >&2; exit 2; }
		export SANDLOOP_GO_JUDGE=$2
		shift 2
		;;
	-h | --help)
		usage
		exit
		;;
	*)
		echo "bench-grade: $1: want --go-judge URL or nothing" >&2
		exit 2
		;;
	esac
done

bench() { # package, benchmarks, iterations, what it shows
	printf '\n%s\n' "$4"
	CI=true go test -run '^$' -bench "$2" -benchtime "$3" -timeout 60m "./$1" | grep -E '^Benchmark|^FAIL|^panic|\.go:|Error'
}

bench internal/e2e '^BenchmarkGrade$' 1x '200 one-test programs, two at once, three rounds of each way (wanted: reuse/bare at least 0.9, reuse/go-judge at least 1.3)'
bench internal/e2e '^BenchmarkGradeLatency$' 1x '200 Python programs one after the other (wanted: reuse-less-bare at most 5 ms)'
bench internal/sandbox/docker '^BenchmarkTests$' 5x '20 tests of one submission in one container (wanted: tests/bare at most 1.15)'
