# shellcheck shell=bash
# The demo's worker, with a Redis inside it on a loopback port that nobody uses.
: "${root:?}" "${work:?}" "${enqueue:?}" # set by demo.sh

port='' installation=''
# More lines for the configuration, which a demo may set.
settings=${settings:-}

start_worker() {
	local attempt
	for attempt in 1 2 3; do
		port=$(free_port)
		# The demo shows what is built in, whatever configuration this user has.
		export SANDLOOP_CONFIG=$work/sandloop.yaml
		printf 'redis: {addr: embedded, embedded_addr: "127.0.0.1:%d"}\n%s\n' "$port" "$settings" >"$SANDLOOP_CONFIG"
		"$root/bin/worker" --embedded >"$work/worker.log" 2>&1 &
		worker=$!
		echo "demo: worker $worker started, its Redis is on 127.0.0.1:$port"
		await_worker && return
		echo "demo: the worker did not come up (attempt $attempt)"
	done
	exit 1
}

# await_worker waits until a first job has come back, so that the tables show no start-up.
await_worker() {
	local deadline=$((SECONDS + 60))
	while ((SECONDS < deadline)); do
		kill -0 "$worker" 2>/dev/null || return 1
		if "$enqueue" run -l bash --wait-timeout 20 - <<<'exit 0' 2>"$work/stderr"; then
			installation=$(ask_redis sandloop:installation)
			return 0
		fi
		sleep 0.2
	done
	cat "$work/stderr"
	return 1
}

# ask_redis KEY prints the value of a key of the worker's Redis.
ask_redis() {
	local value
	exec 3<>"/dev/tcp/127.0.0.1/$port"
	# shellcheck disable=SC2016 # the dollar is part of the protocol
	printf '*2\r\n$3\r\nGET\r\n$%d\r\n%s\r\n' "${#1}" "$1" >&3
	read -r -t 5 value <&3 # the length
	read -r -t 5 value <&3
	exec 3>&-
	echo "${value%$'\r'}"
}

free_port() {
	local port
	for _ in {1..50}; do
		port=$((20000 + RANDOM % 12000))
		(: <"/dev/tcp/127.0.0.1/$port") 2>/dev/null || { echo "$port"; return; }
	done
	return 1
}

# stop_worker lets the worker end its jobs and remove its containers.
stop_worker() {
	[[ -n $worker ]] || return 0
	kill -TERM "$worker" 2>/dev/null || true
	wait "$worker" 2>/dev/null || true
	worker=
}

# check_docker counts as a result that the demo leaves nothing: every container and volume carries
# the id of the installation that made it.
check_docker() {
	local container containers volumes same=no
	[[ -n $installation ]] || { echo "demo: the installation has no id" >&2; exit 1; }
	volumes=$(docker volume ls --quiet --filter "label=dev.sandloop.installation=$installation")
	# The volume with sandbox-init is kept for the next worker, which the demo does not have.
	[[ -z $volumes ]] || xargs docker volume rm <<<"$volumes" >/dev/null || true
	containers=
	for container in $(docker ps --all --quiet --filter "label=dev.sandloop.installation=$installation"); do
		# Docker 20.10 can go on listing one that is gone.
		if docker inspect "$container" >/dev/null 2>&1; then containers+=" $container"; fi
	done
	[[ -n $containers ]] || same=yes
	printf '\nContainers left in Docker after the worker has stopped: %s\n' "$(wc -w <<<"$containers")"
	count "$same"
}

# finish NAME runs at every end of a demo.
finish() {
	local code=$?
	stop_worker
	if ((code != 0)) && [[ -s $work/worker.log ]]; then
		echo "$1: the worker's last lines:" >&2
		tail -n 20 "$work/worker.log" >&2
	fi
	rm -rf "$work"
}
