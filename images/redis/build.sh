#!/usr/bin/env bash
# Builds an image with Debian's Redis, which docker-compose.yml takes with SANDLOOP_REDIS_IMAGE. It is for
# machines that no registry answers, and needs root, mmdebstrap and Docker.
# Usage: images/redis/build.sh [NAME:TAG]     (default sandloop/redis:latest)
set -euo pipefail

root=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
image=${1:-sandloop/redis:latest}

main() {
	local stage
	stage=$(mktemp -d)
	# shellcheck disable=SC2064 # the directory of now
	trap "rm -rf '$stage'" EXIT
	"$root/images/from-debian.sh" redis-server redis-tools >"$stage/root.tar" 2>"$stage/log" || {
		tail -n 15 "$stage/log" >&2
		echo "redis image: it could not be made from Debian packages" >&2
		return 1
	}
	rm "$stage/log"
	docker build --quiet --network none --tag "$image" --file "$root/images/redis/Dockerfile" "$stage"
	echo "image:  $image built, $(docker run --rm --network none "$image" redis-server --version)"
}

main
