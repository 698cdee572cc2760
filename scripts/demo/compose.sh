# shellcheck shell=bash
# Docker Compose: the one that is there, or one that Go builds.
: "${root:?}" "${project:?}" # set by compose-demo.sh

compose_version=v2.40.3
declare -a compose_program=() compose_files=(--file "$root/docker-compose.yml")

# compose ARGUMENT... works on the demo's own project.
compose() { "${compose_program[@]}" "${compose_files[@]}" --project-name "$project" "$@"; }

find_compose() {
	if docker compose version >/dev/null 2>&1; then
		compose_program=(docker compose)
	elif docker-compose version --short 2>/dev/null | grep -qE '^v?[2-9]'; then
		compose_program=(docker-compose)
	else
		build_compose
	fi
	echo "compose: $("${compose_program[@]}" version)"
}

# build_compose builds it inside of its own module, whose go.mod says things that go install does not take.
build_compose() {
	local cache=${SANDLOOP_CACHE:-${XDG_CACHE_HOME:-${HOME:-/root}/.cache}/sandloop}/compose-$compose_version source
	if [[ ! -x $cache/docker-compose ]]; then
		echo "compose: Docker Compose is not installed: building $compose_version with Go (some minutes, once)"
		mkdir -p "$cache"
		source=$(cd "$cache" && go mod download -json "github.com/docker/compose/v2@$compose_version" | sed -n 's/^.*"Dir": "\(.*\)".*/\1/p')
		(cd "$source" && GOFLAGS='' go build -trimpath -ldflags "-s -w -X github.com/docker/compose/v2/internal.Version=$compose_version" \
			-o "$cache/docker-compose" ./cmd)
	fi
	compose_program=("$cache/docker-compose")
}

official_redis() { sed -n 's/.*SANDLOOP_REDIS_IMAGE:-\([^}]*\)}.*/\1/p' "$root/docker-compose.yml"; }

# find_images builds the worker and, where no registry answers, Redis.
find_images() {
	export SANDLOOP_WORKER_IMAGE=sandloop-demo/worker:latest
	"$root/images/worker/build.sh" "$SANDLOOP_WORKER_IMAGE"
	if [[ -n ${SANDLOOP_REDIS_IMAGE:-} ]]; then
		return
	fi
	local official
	official=$(official_redis)
	if docker image inspect "$official" >/dev/null 2>&1 || timeout 15 docker pull --quiet "$official" >/dev/null 2>&1; then
		return
	fi
	export SANDLOOP_REDIS_IMAGE=sandloop/redis:latest
	if docker image inspect "$SANDLOOP_REDIS_IMAGE" >/dev/null 2>&1; then
		echo "image:  $SANDLOOP_REDIS_IMAGE already there"
		return
	fi
	echo "image:  no registry gave $official: building Redis from Debian packages (about a minute, once)"
	"$root/images/redis/build.sh" "$SANDLOOP_REDIS_IMAGE"
}
