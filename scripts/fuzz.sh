#!/usr/bin/env bash
# Runs every fuzz target one after the other for FUZZTIME, 30s by default, and prints how many inputs each took and how many its corpus has, which
# Go keeps in its cache from run to run. What breaks one is kept in
# testdata/fuzz of its package, where every run of the tests finds it again. docs/fuzzing.md tells what each target holds.
# Go would spend up to a minute on making each new input smaller, in which nothing else runs: FUZZMINIMIZE, 100x by default, bounds that.
# Usage: scripts/fuzz.sh [REGEXP]     (targets whose package or name match; all by default)
set -euo pipefail

root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
cd "$root"

# targets prints package and name of each. go test -list would compile every package first.
targets() {
	git ls-files --cached --others --exclude-standard '*_test.go' | xargs grep -oHE '^func Fuzz[A-Za-z0-9_]+' |
		sed -E 's|^(.*)/[^/]*:func |./\1 |' | sort | grep -E "$1"
}

main() {
	local package name begun out total=0 broken=0
	while read -r package name; do
		total=$((total + 1)) begun=$SECONDS
		# On a busy machine Go takes the end of its time for a failure, which has no input then.
		if out=$(go test "$package" -run '^$' -fuzz "^$name\$" -fuzztime "${FUZZTIME:-30s}" -fuzzminimizetime "${FUZZMINIMIZE:-100x}" 2>&1 </dev/null) ||
			{ grep -qx ' *context deadline exceeded' <<<"$out" && ! grep -q 'Failing input' <<<"$out"; }; then
			printf '%-28s %-22s %s in %d s, corpus: %s\n' "$package" "$name" "$(grep -oE 'execs: [0-9]+' <<<"$out" | tail -n 1)" $((SECONDS - begun)) \
				"$(grep -oE 'total: [0-9]+' <<<"$out" | tail -n 1 | grep -oE '[0-9]+')"
		else
			broken=$((broken + 1))
			printf '%-28s %-22s BROKEN\n%s\n' "$package" "$name" "$out"
		fi
	done < <(targets "${1:-.}")
	echo "fuzz: $total targets, $broken broken"
	((total > 0 && broken == 0))
}

main "$@"
