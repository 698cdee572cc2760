#!/usr/bin/env bash
# Checks the files of deploy/: Kubernetes' and KEDA's schemas, Swarm's loader, the dashboard and the alerts against the metrics
# that there are, and the alerts' own tests with promtool.
set -euo pipefail

root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
state=${SANDLOOP_STATE:-${XDG_STATE_HOME:-${HOME:-/root}/.local/state}/sandloop}
cache=${SANDLOOP_CACHE:-${XDG_CACHE_HOME:-${HOME:-/root}/.cache}/sandloop}

main() {
	# Go's cache of results does not see files outside of the module, which is where all these are.
	(cd "$root/deploy/check" && go test -count=1 "$@" ./...)
	local promtool
	if ! promtool=$(find_promtool); then
		echo "check-deploy: there is no promtool, so the alerts' own tests did not run (Debian has it in the package prometheus)" >&2
		[[ -z ${CI:-} ]]
		return
	fi
	cd "$root/deploy/prometheus"
	run "$promtool" check config prometheus.yml
	run "$promtool" test rules alerts_test.yml
	echo "check-deploy: promtool has nothing against prometheus.yml and alerts.yml, and the alerts fire as their tests say"
}

# run COMMAND... shows what it says only if it fails.
run() {
	local said
	said=$("$@" 2>&1) || { echo "$said" >&2; return 1; }
}

# find_promtool prints the path of one that is there, or of one that is taken out of Debian's package. That is
# not installed: it would bring a service.
find_promtool() {
	command -v promtool && return
	local tool=$cache/promtool
	if [[ ! -x $tool ]]; then
		command -v apt-get >/dev/null && command -v dpkg-deb >/dev/null || return 1
		mkdir -p "$cache" "$state"
		local work
		work=$(mktemp -d "$cache/promtool-XXXXXX")
		# shellcheck disable=SC2064 # the directory of now
		trap "rm -rf '$work'" EXIT
		# apt's own user cannot write into a directory of ours, which it says and does as root.
		(cd "$work" && { apt-get -qq download prometheus || { [[ $EUID -eq 0 ]] && apt-get -qq update && apt-get -qq download prometheus; }; }) \
			>>"$state/apt.log" 2>&1 || return 1
		dpkg-deb -x "$work"/prometheus_*.deb "$work/root"
		mv "$work/root/usr/bin/promtool" "$tool"
	fi
	"$tool" --version >/dev/null 2>&1 || return 1
	echo "$tool"
}

main "$@"
