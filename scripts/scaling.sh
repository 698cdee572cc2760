#!/usr/bin/env bash
# Measures how queue and workers scale, with programs that only sleep, and draws the figures of docs/scaling.md.
# Times depend on the machine, which should have nothing else to do; compare the ratios, which come from one run.
# Usage: scripts/scaling.sh [--jobs N] [--window DURATION] [enqueue|queue|delay|share|idle...]
set -euo pipefail
cd "$(dirname "$0")/.."

scripts/setup.sh redis
simulate=$(mktemp)
trap 'rm -f "$simulate"' EXIT
CGO_ENABLED=0 go build -o "$simulate" ./internal/e2e/scale/cmd/simulate
"$simulate" --out docs/data "$@"
(cd tools && go run ./plot ../docs/data ../docs)
