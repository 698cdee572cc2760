#!/usr/bin/env bash
# Breaks workers, Redis and Docker under running jobs, and looks what became of the jobs. It has a dockerd,
# a Redis and workers of its own, and needs root.
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
		Usage: scripts/test-faults.sh [go test flag...]

		Every fault in every phase takes about half an hour. With -run one can choose:
		  scripts/test-faults.sh -run 'TestFaults/redis.*/running'

		Environment
		  SANDLOOP_FAULTS         short: one phase of each fault and shorter outages, some minutes
		  SANDLOOP_FAULTS_REPORT  the file for the tables (.cache/faults.md)
		  SANDLOOP_CACHE          where programs and the image are kept (the user's cache)
	END
}

case ${1:-} in
-h | --help | help)
	usage
	exit
	;;
esac

main() {
	[[ $EUID -eq 0 ]] || give_up faults "only root can start a dockerd of its own" "run it as root"
	if [[ -n ${CI:-} ]]; then
		trap 'rm -rf "${TMPDIR:?}"; scripts/setup.sh stop' EXIT
	else
		trap 'rm -rf "${TMPDIR:?}"' EXIT
	fi
	# Whatever becomes of the test, its files are gone with this folder. Paths of sockets are short.
	TMPDIR=$(mktemp -d /tmp/sandloop-faults.XXXX)
	export TMPDIR
	scripts/setup.sh docker redis image core
	need mkfs.ext4 "a disk that can be full" e2fsprogs
	mkdir -p .cache
	export SANDLOOP_FAULTS_REPORT=${SANDLOOP_FAULTS_REPORT:-$root/.cache/faults.md}
	rm -f "$SANDLOOP_FAULTS_REPORT"
	say faults "the tables go to $SANDLOOP_FAULTS_REPORT"
	go test -race -tags faults -count 1 -timeout 100m "$@" ./internal/e2e/faults
}

# need COMMAND PURPOSE PACKAGE
need() { command -v "$1" >/dev/null || apt_install faults "$2" "$3"; }

main "$@"
