# shellcheck shell=bash
# deploy/compose/hardened.yml: keys and users of Redis that are made for the demo, and what two workers do with them.
: "${root:?}" "${work:?}" "${project:?}" # set by compose-demo.sh

hardened() {
	compose_files+=(--file "$root/deploy/compose/hardened.yml")
	secrets
	network_job
	export SANDLOOP_REDIS_PASSWORD=unused
	export SANDLOOP_NETWORK_RULES='[{tenants: [acme], domains: [one.invalid]}]'

	step "docker compose -f docker-compose.yml -f deploy/compose/hardened.yml up --scale worker=2"
	compose up --detach --scale worker=2 --wait --wait-timeout 180 >"$work/up" 2>&1 || { cat "$work/up" >&2; exit 1; }
	# shellcheck disable=SC2034 # compose-demo.sh uses it
	installation=$(as_worker get sandloop:installation)
	check "two workers say that they are alive" test "$(healthy)" -eq 2
	check "the queue knows two workers" test "$(alive)" -eq 2
	check "docker-proxy alone has Docker's socket" test "$(with_socket)" = docker-proxy
	check "Redis lets nobody in without a name" test "$(anonymously)" = "NOAUTH Authentication required."

	step "signed and sealed jobs, through docker-proxy"
	submit short-{1..6}
	check "a source that waits in Redis cannot be read" nothing_readable
	collect
	check "six results are right" test "$(rightly 6)" -eq 6
	check "both workers had a part in it" test "$(workers_of_jobs)" -eq 2
	check "a job that is not signed is rejected" unsigned_is_rejected

	step "a job with a network, through docker-proxy"
	check "it reaches its gate, and through that no address" networked --tenant acme '403 sandloop: "192.0.2.1" is an address'
	check "a tenant without a rule has none" networked --tenant other 'no rule gives the tenant'
	check "docker-proxy refused nothing" test -z "$(compose logs docker-proxy 2>&1 | grep refused)"

	step "docker kill, of the worker that has a long job"
	death_of_a_worker 1
}

worker_password=''

# secrets makes the files. Their owners are the users of the images, so a container gives them away.
secrets() {
	export SANDLOOP_SECRETS=$work/secrets
	"$root/scripts/secrets.sh" "$SANDLOOP_SECRETS" >/dev/null
	worker_password=$(<"$SANDLOOP_SECRETS/worker-password")
	docker run --rm --network none --user 0 --volume "$SANDLOOP_SECRETS:/secrets" --entrypoint sh \
		"${SANDLOOP_REDIS_IMAGE:-$(official_redis)}" -c 'cd /secrets && chown 65532 *-key *-password *-token && chown redis users.acl'
}

# as_worker COMMAND... asks Redis as workers do.
as_worker() { compose exec --no-TTY --env "REDISCLI_AUTH=$worker_password" redis redis-cli --user sandloop-worker "$@" </dev/null; }

anonymously() { compose exec --no-TTY redis redis-cli get sandloop:installation </dev/null | head -n 1; }

# with_socket names the services that have the daemon's socket.
with_socket() {
	local label='{{index .Config.Labels "com.docker.compose.service"}}'
	docker ps --quiet --filter "label=com.docker.compose.project=$project" |
		xargs docker inspect --format "$label{{range .Mounts}} {{.Source}}{{end}}" | grep -F " $SANDLOOP_DOCKER_SOCKET" | cut -d ' ' -f 1 | sort -u
}

# nothing_readable looks for the sources of the jobs in what Redis has on its disk.
nothing_readable() {
	compose exec --no-TTY redis sh -c 'cat /data/appendonlydir/*' </dev/null >"$work/disk"
	grep -aq 'sandloop:' "$work/disk" && ! grep -aq 'sleep 1' "$work/disk"
}

unsigned_is_rejected() {
	! compose run --rm --no-TTY --no-deps --env SANDLOOP_JOBS_SIGN_KEY_FILE= --volume "$work/jobs:/jobs:ro" enqueue \
		run /jobs/short-1.sh </dev/null >"$work/unsigned" 2>&1 && grep -q 'not signed' "$work/unsigned"
}

# network_job writes one that prints what its gate says when it wants to be connected to an address.
network_job() {
	cat >"$work/jobs/network.sh" <<-'END'
		place=${HTTPS_PROXY##*@} login=${HTTPS_PROXY#http://}
		exec 3<>"/dev/tcp/${place%:*}/${place##*:}"
		printf 'CONNECT 192.0.2.1:443 HTTP/1.1\r\nHost: x\r\nProxy-Authorization: Basic %s\r\n\r\n' "$(printf %s "${login%@*}" | base64)" >&3
		cat <&3
	END
	chmod a+r "$work/jobs/network.sh"
}

# networked --tenant TENANT TEXT runs a job that asks its gate for an address, and looks for a text in what comes of it.
networked() {
	producer run --network "$1" "$2" /jobs/network.sh >"$work/networked" || true
	cat "$work/networked" "$work/stderr" | grep -qF "$3"
}
