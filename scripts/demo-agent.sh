#!/usr/bin/env bash
# Shows an agent at work on this machine, without a key: a scripted model writes files, runs a program
# that fails, reads, repairs and plots, in real containers and through the queue. Then compares what came
# back with what examples/agent promises. Stops what it started and leaves nothing in Docker.
set -euo pipefail

root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
cd "$root/examples/agent"
enqueue=$root/bin/enqueue
agent=$root/bin/agent
work=$(mktemp -d)
worker=
total=0 right=0
# Python and commands run in the image that has matplotlib.
settings="languages_file: \"$root/examples/agent/languages.yaml\""

# shellcheck source=scripts/demo/show.sh
. "$root/scripts/demo/show.sh"
# shellcheck source=scripts/demo/worker.sh
. "$root/scripts/demo/worker.sh"

main() {
	for program in worker enqueue agent sandbox-init; do
		[[ -x $root/bin/$program ]] || { echo "demo-agent: bin/$program is missing: run make build" >&2; exit 1; }
	done
	trap "finish demo-agent" EXIT
	trap 'exit 130' INT
	trap 'exit 143' TERM
	start_worker

	# shellcheck disable=SC2016 # shown as one would type it
	printf '\n$ agent --script repair.yaml --out plots --transcript run.json\n\n'
	local code=0
	"$agent" --script repair.yaml --out "$work/plots" --transcript "$work/run.json" || code=$?

	printf '\nWhat came of it\n'
	check "the agent ended with an answer, exit code 0" test "$code" -eq 0
	check "its transcript ends with an answer" grep -q '"stop": "answer"' "$work/run.json"
	check "the answer has the mean of the six days, 17.50" grep -q '"text": "The mean of the six days .* is 17.50' "$work/run.json"
	check "the first try failed with a traceback" grep -q 'could not convert string to float' "$work/run.json"
	check "the repaired program came back" grep -q 'if row\["celsius"\]' "$work/plots/means.py"
	check "the plot is a PNG image" is_png "$work/plots/week.png"
	check "the session is gone" no_session

	stop_worker
	check_docker
	verdict demo-agent
}

is_png() { [[ $(head -c 8 "$1" | od -An -tx1 | tr -d ' \n') == 89504e470d0a1a0a ]]; }

no_session() {
	local listed
	listed=$("$enqueue" session list --json) && [[ -z $listed ]]
}

# check WHAT COMMAND... counts whether a command succeeds.
check() {
	local what=$1 same=no
	shift
	"$@" >/dev/null 2>&1 && same=yes
	printf '  %-52s %s\n' "$what" "$same"
	count "$same"
}

main "$@"
