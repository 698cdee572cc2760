#!/usr/bin/env bash
# Sets up, builds, and runs go test with the race detector.
# Usage: IMAGES="core full" scripts/test.sh [go test flag or package...]
# In CI what set-up itself started is stopped at the end, whatever the end is.
set -euo pipefail

root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
cd "$root"

main() {
	local name
	local -a steps=(docker redis tools)
	for name in ${IMAGES:-core}; do steps+=(image "$name"); done
	if [[ -n ${CI:-} ]]; then
		trap 'scripts/setup.sh stop' EXIT
	fi
	scripts/setup.sh "${steps[@]}"
	# Where it is missing one test skips on a laptop, and fails in CI.
	scripts/setup.sh node || [[ -z ${CI:-} ]]
	make --no-print-directory build
	export SANDLOOP_INIT=$root/bin/sandbox-init
	go test -race -timeout 30m "$@"
}

main "$@"
