#!/usr/bin/env bash
# Builds the image of the worker, which holds four static programs and nothing else, so it
# needs Go and Docker and no registry.
# Usage: images/worker/build.sh [NAME:TAG]     (default sandloop/worker:latest)
set -euo pipefail

root=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
image=${1:-sandloop/worker:latest}
authorities=${SSL_CERT_FILE:-/etc/ssl/certs/ca-certificates.crt}

main() {
	local stage arch
	arch=$(docker version --format '{{.Server.Arch}}')
	stage=$(mktemp -d)
	# shellcheck disable=SC2064 # the directory of now
	trap "rm -rf '$stage'" EXIT
	mkdir -p "$stage/context/bin" "$stage/context/etc/ssl/certs"
	# The same flags as in the Makefile, so that sandbox-init is the same everywhere.
	(cd "$root" && CGO_ENABLED=0 GOOS=linux GOARCH=$arch go build -trimpath -buildvcs=false \
		-ldflags '-s -w' -o "$stage/context/bin/" ./cmd/worker ./cmd/enqueue ./cmd/sandbox-init ./cmd/egress-proxy)
	# For a Redis with a certificate of a public authority.
	[[ ! -r $authorities ]] || cp "$authorities" "$stage/context/etc/ssl/certs/ca-certificates.crt"
	chmod -R go=u-w "$stage"
	docker build --quiet --tag "$image" --file "$root/images/worker/Dockerfile" "$stage"
	echo "image:  $image built for linux/$arch"
}

main
