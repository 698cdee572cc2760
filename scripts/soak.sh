#!/usr/bin/env bash
# A long run of three workers and several producers with every fault at random times, and a check of its history. It has
# a dockerd, a Redis and workers of its own, and needs root.
set -euo pipefail

root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
cd "$root"
export PATH=$PATH:/usr/sbin:/sbin

state=${SANDLOOP_STATE:-${XDG_STATE_HOME:-${HOME:-/root}/.local/state}/sandloop}

# shellcheck source=scripts/setup/say.sh
. "$root/scripts/setup/say.sh"
# shellcheck source=scripts/setup/apt.sh
. "$root/scripts/setup/apt.sh"

usage() {
	cat <<-END
		Usage: scripts/soak.sh [go test flag...]

		Environment
		  SOAK_MINUTES   how long faults happen (30); the rest takes up to ten more
		  SOAK_SEED      the choices of an earlier run, which prints it
		  SOAK_HISTORY   the file of the history (.cache/soak.jsonl)
		  SOAK_ORPHANS   how many orphans the reaper must remove in one sweep before (200); 0 leaves that out
	END
}

case ${1:-} in
-h | --help | help)
	usage
	exit
	;;
esac

main() {
	local orphans=${SOAK_ORPHANS:-200}
	export SOAK_MINUTES=${SOAK_MINUTES:-30} SOAK_HISTORY=${SOAK_HISTORY:-$root/.cache/soak.jsonl}
	[[ $EUID -eq 0 ]] || give_up soak "only root can start a dockerd of its own" "run it as root"
	if [[ -n ${CI:-} ]]; then
		trap 'rm -rf "${TMPDIR:?}"; scripts/setup.sh stop' EXIT
	else
		trap 'rm -rf "${TMPDIR:?}"' EXIT
	fi
	TMPDIR=$(mktemp -d /tmp/sandloop-soak.XXXX)
	export TMPDIR
	scripts/setup.sh docker redis image core
	need mkfs.ext4 "a disk that can be full" e2fsprogs
	mkdir -p .cache
	if ((orphans > 0)); then
		say soak "$orphans orphans of every kind, and one sweep"
		SANDLOOP_TEST_ORPHANS=$orphans go test -race -count 1 -timeout 30m -v -run '^TestOrphansOfEveryKind' ./internal/reaper
	fi
	say soak "$SOAK_MINUTES minutes; to check the history later: go run ./internal/e2e/soak/check $SOAK_HISTORY"
	go test -race -tags soak -count 1 -timeout "$((${SOAK_MINUTES%.*} + 40))m" -v -run '^TestSoak$' "$@" ./internal/e2e/soak
}

# need COMMAND PURPOSE PACKAGE
need() { command -v "$1" >/dev/null || apt_install soak "$2" "$3"; }

main "$@"
