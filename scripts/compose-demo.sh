#!/usr/bin/env bash
# Brings up docker-compose.yml with three workers from images that are built here, runs jobs through them, kills one in
# the midst of a job and takes two away from under others. Stops what it started and leaves nothing in Docker but the images.
# Usage: scripts/compose-demo.sh [--hardened]     (with deploy/compose/hardened.yml laid over it, and two workers)
set -euo pipefail

root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
project=sandloop-demo-$$
work=$(mktemp -d)
installation=''
enqueue=producer # for show.sh
total=0 right=0

# shellcheck source=scripts/demo/show.sh
. "$root/scripts/demo/show.sh"
# shellcheck source=scripts/demo/compose.sh
. "$root/scripts/demo/compose.sh"
# shellcheck source=scripts/demo/hardened.sh
. "$root/scripts/demo/hardened.sh"

main() {
	trap finish EXIT
	trap 'exit 130' INT
	trap 'exit 143' TERM
	local kind
	case ${1:-} in
	'') kind=plain ;;
	--hardened) kind=hardened ;;
	*)
		sed -n 's/^# \(Usage: .*\)/\1/p' "${BASH_SOURCE[0]}" >&2
		exit 2
		;;
	esac
	find_compose
	find_images
	settings
	programs
	"$kind"

	step "docker compose down"
	compose down --volumes --timeout 90 >"$work/down" 2>&1 || cat "$work/down" >&2
	check_nothing_left
	verdict demo-compose
}

# plain is docker-compose.yml alone.
plain() {
	step "docker compose up --scale worker=3"
	compose up --detach --scale worker=3 --wait --wait-timeout 180 >"$work/up" 2>&1 || { cat "$work/up" >&2; exit 1; }
	installation=$(ask_redis get sandloop:installation)
	check "three workers say that they are alive" test "$(healthy)" -eq 3
	check "the queue knows three workers" test "$(alive)" -eq 3

	step "twelve jobs of a second each, two at once in a worker"
	submit short-{1..12}
	collect
	check "twelve results are right" test "$(rightly 12)" -eq 12
	check "all three workers had a part in it" test "$(workers_of_jobs)" -eq 3
	check "a worker's metrics tell of its jobs" metrics_tell

	step "docker kill, of the worker that has a long job"
	death_of_a_worker 2

	step "docker compose up --scale worker=1, while jobs run"
	submit slow-{1..8}
	compose up --detach --scale worker=1 --no-recreate >"$work/down" 2>&1
	collect
	check "eight results are right" test "$(rightly 8)" -eq 8
	check "one worker is left" test "$(alive)" -eq 1
}

step() { printf '\n%s\n' "$1"; }

# check WHAT COMMAND... counts whether a command succeeds.
check() {
	local what=$1 same=no
	shift
	"$@" >/dev/null 2>&1 && same=yes
	printf '  %-52s %s\n' "$what" "$same"
	count "$same"
}

settings() {
	local socket=${DOCKER_HOST:-unix:///var/run/docker.sock}
	[[ $socket == unix://* ]] || { echo "demo-compose: DOCKER_HOST=$socket: workers in containers need a daemon with a socket on this machine" >&2; exit 1; }
	export SANDLOOP_DOCKER_SOCKET=${socket#unix://} SANDLOOP_WORKER_CONCURRENCY=2 SANDLOOP_ADMIN_TOKEN=''
	SANDLOOP_DOCKER_GID=$(stat -c %g "$SANDLOOP_DOCKER_SOCKET")
	SANDLOOP_REDIS_PASSWORD=$(od -An -N 32 -tx1 /dev/urandom | tr -d ' \n')
	export SANDLOOP_DOCKER_GID SANDLOOP_REDIS_PASSWORD
}

# programs writes short-N and slow-N, which print 7 times N, and a long one.
programs() {
	local n
	mkdir "$work/jobs"
	for n in {1..12}; do
		# shellcheck disable=SC2016 # for the job's shell
		printf 'sleep 1\necho $((7 * %d))\n' "$n" >"$work/jobs/short-$n.sh"
		# shellcheck disable=SC2016
		printf 'sleep 5\necho $((7 * %d))\n' "$n" >"$work/jobs/slow-$n.sh"
	done
	printf 'sleep 12\necho the end\n' >"$work/jobs/long.sh"
	chmod -R a+rX "$work/jobs"
}

# producer ARGUMENT... is enqueue in a container of the project.
producer() {
	compose run --rm --no-TTY --no-deps --volume "$work/jobs:/jobs:ro" enqueue "$@" </dev/null 2>"$work/stderr"
}

# ask_redis COMMAND... asks the project's Redis.
ask_redis() {
	# shellcheck disable=SC2016 # the container's shell expands it
	compose exec --no-TTY redis sh -c 'REDISCLI_AUTH=$REDIS_PASSWORD exec redis-cli "$@"' redis-cli "$@" </dev/null
}

healthy() { docker ps --quiet --filter "label=com.docker.compose.project=$project" --filter label=com.docker.compose.service=worker --filter health=healthy | wc -l; }

alive() { producer stats | awk '/^WORKER /{on=1; next} on && NF' | wc -l; }

# submit NAME... puts programs on the queue and keeps their ids.
submit() {
	local name
	local -a files=()
	for name in "$@"; do files+=("/jobs/$name.sh"); done
	producer submit "${files[@]}" >"$work/ids"
}

# collect waits for all of them and keeps their records, a line each.
collect() {
	local -a ids
	mapfile -t ids <"$work/ids"
	producer wait --json --wait-timeout 120 "${ids[@]}" >"$work/records" || cat "$work/stderr" >&2
}

# rightly N counts which of 7, 14 to 7N are there as the output of a job that went well.
rightly() {
	local n found=0
	for ((n = 1; n <= $1; n++)); do
		if grep -c "\"stdout\":{\"data\":\"$((7 * n))\\\\n\"" "$work/records" | grep -qx 1; then found=$((found + 1)); fi
	done
	echo "$found"
}

workers_of_jobs() { grep -o '"worker":"[^"]*"' "$work/records" | sort -u | wc -l; }

metrics_tell() {
	local container address line
	container=$(compose ps --quiet worker | head -n 1)
	address=$(docker inspect --format '{{range .NetworkSettings.Networks}}{{.IPAddress}}{{end}}' "$container")
	exec 3<>"/dev/tcp/$address/9390"
	printf 'GET /metrics HTTP/1.0\r\n\r\n' >&3
	line=$(timeout 20 grep -m 1 '^sandloop_jobs_finished_total{.*outcome="ok"' <&3)
	exec 3>&-
	[[ ${line##* } -ge 1 ]]
}

# death_of_a_worker LEFT kills the worker that runs the long job, which another one then does; so many are left.
death_of_a_worker() {
	local id worker killed='' again='' deadline=$((SECONDS + 60))
	submit long
	id=$(<"$work/ids")
	until worker=$(producer status --json "$id" | sed -n 's/.*"worker": *"\([^"]*\)".*/\1/p') && [[ -n $worker ]]; do
		((SECONDS < deadline)) || { echo "  no worker took the job" >&2; return 1; }
	done
	killed=$(date +%s%3N)
	# A worker's id begins with the name of its host, which in a container is the container's id.
	docker kill "${worker%%-*}" >/dev/null
	collect
	check "the job came to its end" grep -q '"stdout":{"data":"the end\\n"' "$work/records"
	check "on another worker" test "$(workers_of_jobs)" -eq 2
	again=$(sed 's/.*"attempts"//' "$work/records" | grep -o '"started":"[^"]*"' | tail -n 1 | cut -d '"' -f 4)
	again=$(($(date -d "$again" +%s%3N) - killed))
	check "it was begun again $((again / 1000)).$(printf '%03d' $((again % 1000))) s after the kill (wanted: under 10 s)" test "$again" -lt 10000 -a "$again" -gt 0
	check "workers that are left: $1" test "$(alive)" -eq "$1"
}

# ours KIND lists what the demo has made in Docker.
ours() {
	local label
	for label in "com.docker.compose.project=$project" ${installation:+"dev.sandloop.installation=$installation"}; do
		case $1 in
		containers) docker ps --all --quiet --filter "label=$label" ;;
		volumes) docker volume ls --quiet --filter "label=$label" ;;
		networks) docker network ls --quiet --filter "label=$label" ;;
		esac
	done
}

check_nothing_left() {
	# The volume with sandbox-init is kept for the next worker, which the demo does not have.
	ours volumes | xargs --no-run-if-empty docker volume rm >/dev/null || true
	check "no container of workers or jobs is left" test -z "$(ours containers)"
	check "no volume and no network is left" test -z "$(ours volumes)$(ours networks)"
}

finish() {
	local code=$?
	if [[ ${#compose_program[@]} -gt 0 && -n $(ours containers) ]]; then
		compose logs --tail 20 >&2 || true
		compose down --volumes --remove-orphans --timeout 30 >/dev/null 2>&1 || true
		ours containers | xargs --no-run-if-empty docker rm --force >/dev/null || true
		ours volumes | xargs --no-run-if-empty docker volume rm >/dev/null || true
	fi
	docker image rm sandloop-demo/worker:latest >/dev/null 2>&1 || true
	rm -rf "$work"
	exit "$code"
}

main "$@"
