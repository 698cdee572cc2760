#!/usr/bin/env bash
# Runs the attacks of attacks/ against the sandbox, and prints what became of each; the table is in .cache/attacks.md, too.
set -euo pipefail

root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
cd "$root"

usage() {
	cat <<-END
		Usage: scripts/attack.sh [--write | --neighbours] [go test flag...]

		  --write        puts the table between the markers of SECURITY.md
		  --neighbours   measures instead what attacks cost a well-behaved job in the next slot; four minutes

		With -run one can choose:
		  scripts/attack.sh -run 'TestAttacks/docker\$/memory'

		Environment
		  SANDLOOP_ATTACK      short: containers that are thrown away, with the usual runtime and profile alone
		  NEIGHBOUR_JOBS       how many jobs are timed beside each attack (100)
	END
}

main() {
	local -a what=(-run TestAttacks -parallel 2)
	local table=$root/.cache/attacks.md code=0
	local -a args=(-args -table "$table")
	case ${1:-} in
	-h | --help | help)
		usage
		return
		;;
	--write)
		shift
		args+=(-write "$root/SECURITY.md")
		;;
	--neighbours)
		shift
		what=(-run '^$' -bench Neighbours -benchtime "${NEIGHBOUR_JOBS:-100}x")
		;;
	esac
	if [[ -n ${CI:-} ]]; then
		trap 'scripts/setup.sh stop' EXIT
	fi
	scripts/setup.sh docker redis image core
	make --no-print-directory bin/sandbox-init
	export SANDLOOP_INIT=$root/bin/sandbox-init
	mkdir -p .cache
	rm -f "$table"
	# What is missing fails the suite: an attack that is skipped is not stopped.
	CI=true go test -tags attack -count 1 -timeout 60m "${what[@]}" "$@" ./internal/attack "${args[@]}" || code=$?
	if [[ -e $table ]]; then
		cat "$table"
	fi
	return "$code"
}

main "$@"
