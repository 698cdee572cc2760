#!/usr/bin/env bash
# Writes what the programs and the runtime images are made of: CycloneDX in JSON for the Go modules of each program, and for each
# image that is there the list of its Debian packages.
# Usage: scripts/sbom.sh [FOLDER]     (default bin/sbom)
set -euo pipefail

root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
cd "$root"
out=${1:-bin/sbom}

main() {
	local program image name
	mkdir -p "$out"
	for program in cmd/*/main.go; do
		name=$(basename "$(dirname "$program")")
		go tool -modfile=tools/sbom/go.mod cyclonedx-gomod app -json -output "$out/$name.cdx.json" -licenses -main "cmd/$name" . 2>"$out/log" ||
			{ cat "$out/log" >&2; return 1; }
		echo "sbom: $out/$name.cdx.json, $(grep -c '"bom-ref"' "$out/$name.cdx.json") components"
	done
	rm -f "$out/log"
	for image in sandloop/core:latest sandloop/full:latest; do
		docker image inspect "$image" >/dev/null 2>&1 || { echo "sbom: $image is not there (make setup IMAGES=\"core full\")"; continue; }
		name=${image#sandloop/} name=${name%:*}
		# shellcheck disable=SC2016 # for dpkg-query
		docker run --rm --network none --read-only --user 65534:65534 --cap-drop ALL --entrypoint dpkg-query "$image" \
			--show --showformat '${Package} ${Version} ${Architecture} ${source:Package}\n' >"$out/$name.packages"
		echo "sbom: $out/$name.packages, $(wc -l <"$out/$name.packages") packages of $(docker image inspect --format '{{.Id}}' "$image")"
	done
}

main
