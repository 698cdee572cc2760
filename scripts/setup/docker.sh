# shellcheck shell=bash
# A Docker daemon that answers: the one that is there, or one that this
# machine is made to run.
: "${root:?}" "${state:?}" # set by setup.sh

dockerd_pid=$state/dockerd.pid
dockerd_log=$state/dockerd.log
dockerd_unit=$state/docker.systemd # exists when systemd was told to start it

docker_step() {
	local version
	if version=$(docker_version); then
		say docker "daemon $version already there"
		return
	fi
	docker_need_client
	docker_refuse_foreign
	docker_need_daemon
	if [[ -d /run/systemd/system ]] && systemctl cat docker.service >/dev/null 2>&1; then
		docker_start_unit
	else
		docker_start
	fi
	say docker "daemon $(docker_version) answers"
}

# docker_version prints the daemon's version, or fails when none answers.
docker_version() { timeout 10 docker version --format '{{.Server.Version}}' 2>/dev/null; }

# docker_refuse_foreign gives up where starting a daemon would not help: the
# user chose another one, or one runs that this user may not use.
docker_refuse_foreign() {
	local context
	if [[ -n ${DOCKER_HOST:-} && -z ${SANDLOOP_DOCKERD_FLAGS:-} ]]; then
		give_up docker "no daemon answers at DOCKER_HOST=$DOCKER_HOST" \
			"start it, or unset DOCKER_HOST to use this machine's own"
	fi
	context=$(docker context show 2>/dev/null || echo default)
	if [[ -z ${DOCKER_HOST:-} && $context != default ]]; then
		give_up docker "no daemon answers in the Docker context $context" \
			"start it, or run: docker context use default"
	fi
	if [[ $EUID -ne 0 ]]; then
		if [[ -S /var/run/docker.sock && ! -w /var/run/docker.sock ]]; then
			give_up docker "this user may not use /var/run/docker.sock" \
				"run as root, or have root run: usermod -aG docker $(id -un)   (and log in again)"
		fi
		give_up docker "no Docker daemon answers, and only root can start one" \
			"run as root: $root/scripts/setup.sh docker"
	fi
}

docker_need_client() {
	command -v docker >/dev/null && return
	apt_install docker "Docker" docker.io iptables
	# Newer Debian has the client in a package of its own.
	command -v docker >/dev/null || apt_install docker "the Docker client" docker-cli
}

docker_need_daemon() {
	local -a packages=()
	command -v dockerd >/dev/null || packages+=(docker.io)
	command -v iptables >/dev/null || packages+=(iptables)
	[[ ${#packages[@]} -eq 0 ]] || apt_install docker "a Docker daemon" "${packages[@]}"
}

docker_start_unit() {
	say docker "starting docker.service"
	touch "$dockerd_unit"
	if ! systemctl start docker.service; then
		give_up docker "docker.service does not start" "see: journalctl -u docker.service"
	fi
	docker_await 60 true || give_up docker "docker.service runs, but no daemon answers" \
		"see: journalctl -u docker.service"
}

docker_start() {
	if runs_as dockerd /var/run/docker.pid && [[ -z ${SANDLOOP_DOCKERD_FLAGS:-} ]]; then
		say docker "a dockerd is starting up already: waiting for it"
		docker_await 60 runs_as dockerd /var/run/docker.pid && return
		give_up docker "dockerd (process $(</var/run/docker.pid)) runs, but does not answer" \
			"look into its log, or stop it and run this again"
	fi
	docker_clear_stale
	docker_mount_cgroups
	say docker "starting dockerd (log: $dockerd_log)"
	docker_spawn && return
	if grep -qi iptables "$dockerd_log"; then
		say docker "this kernel has no working iptables: starting without container networks"
		docker_spawn --iptables=false --ip6tables=false --bridge=none && return
	fi
	tail -n 5 "$dockerd_log" >&2
	give_up docker "dockerd does not start" "the full log is $dockerd_log"
}

# docker_spawn FLAG... starts dockerd in a session of its own, with nothing of
# this script's open, and waits until it answers.
docker_spawn() {
	local -a flags=(--pidfile "$dockerd_pid" --no-new-privileges)
	[[ -z ${DOCKER_HOST:-} ]] || flags+=(--host "$DOCKER_HOST")
	local -a more
	read -ra more <<<"${SANDLOOP_DOCKERD_FLAGS:-}"
	# A daemon needs more files than a shell gives: each container takes several.
	(
		ulimit -n 1048576 2>/dev/null || ulimit -n "$(ulimit -Hn)"
		exec setsid dockerd "${flags[@]}" "${more[@]}" "$@"
	) >"$dockerd_log" 2>&1 </dev/null 9>&- &
	docker_await 60 kill -0 $!
}

# docker_await SECONDS COMMAND... waits for the daemon to answer as long as
# the command holds.
docker_await() {
	local deadline=$((SECONDS + $1))
	shift
	until docker_version >/dev/null; do
		((SECONDS < deadline)) && "$@" 2>/dev/null || return 1
		sleep 0.2
	done
}

# docker_clear_stale removes pid files of daemons that are gone: their numbers
# may by now belong to other processes, which dockerd would wait for.
docker_clear_stale() {
	runs_as dockerd "$dockerd_pid" || rm -f "$dockerd_pid"
	local exec_root containerd
	exec_root=$(sed -n 's/.*--exec-root[= ]\([^ ]*\).*/\1/p' <<<"${SANDLOOP_DOCKERD_FLAGS:-}")
	containerd=${exec_root:-/var/run/docker}/containerd/containerd.pid
	runs_as containerd "$containerd" || rm -f "$containerd"
}

# docker_mount_cgroups helps a machine that booted without an init system.
docker_mount_cgroups() {
	[[ -d /sys/fs/cgroup ]] || return 0
	[[ -z $(ls -A /sys/fs/cgroup) ]] || return 0
	say docker "mounting cgroup v2 on /sys/fs/cgroup"
	mount -t cgroup2 cgroup2 /sys/fs/cgroup
}

# docker_stop stops a daemon that set-up started.
docker_stop() {
	if [[ -e $dockerd_unit ]]; then
		say docker "stopping docker.service"
		systemctl stop docker.service docker.socket
		rm -f "$dockerd_unit"
	elif runs_as dockerd "$dockerd_pid"; then
		docker_stop_process "$(<"$dockerd_pid")"
	else
		say docker "set-up started no daemon that still runs: nothing to stop"
	fi
	rm -f "$dockerd_pid"
}

docker_stop_process() {
	local pid=$1 deadline=$((SECONDS + 45))
	say docker "stopping dockerd (process $pid)"
	kill "$pid"
	while kill -0 "$pid" 2>/dev/null; do
		((SECONDS < deadline)) || give_up docker "dockerd (process $pid) does not end" "see $dockerd_log"
		sleep 0.2
	done
}

# runs_as NAME PIDFILE tells whether the file names a live process of that
# name. A zombie keeps its name, but has no command line.
runs_as() {
	local pid
	pid=$(cat "$2" 2>/dev/null) || return 1
	[[ $pid =~ ^[0-9]+$ && $(cat "/proc/$pid/comm" 2>/dev/null) == "$1" ]] &&
		[[ -n $(tr -d '\0' <"/proc/$pid/cmdline") ]]
}
