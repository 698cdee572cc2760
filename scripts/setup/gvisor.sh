# shellcheck shell=bash
# gVisor as a runtime of the Docker daemon. It is built from its Go module, in the one version that the tests
# were run with; Debian's package is years older, and lets programs open the files of process 1.
: "${root:?}" "${state:?}" "${dockerd_pid:?}" "${dockerd_unit:?}" # set by setup.sh and docker.sh

gvisor_version=v0.0.0-20260527191743-a81fd9dd382e
gvisor_program=${SANDLOOP_RUNSC:-/usr/local/bin/runsc}
gvisor_config=${SANDLOOP_DOCKER_CONFIG:-/etc/docker/daemon.json}

gvisor_step() {
	docker_version >/dev/null || give_up gvisor "no Docker daemon answers" "run: scripts/setup.sh docker"
	gvisor_install
	if gvisor_known; then
		say gvisor "the daemon knows the runtime runsc already"
	else
		gvisor_register
		gvisor_reload
	fi
	gvisor_try
	say gvisor "choose it with sandbox.runtime or sandbox.runtimes (docs/gvisor.md)"
}

gvisor_install() {
	if [[ -x $gvisor_program ]]; then
		say gvisor "$gvisor_program already there ($("$gvisor_program" --version | head -n 1))"
		return
	fi
	command -v go >/dev/null || give_up gvisor "Go is missing, with which runsc is built" \
		"run: scripts/setup.sh tools   (or put a runsc at $gvisor_program)"
	[[ -w $(dirname "$gvisor_program") ]] || give_up gvisor "this user may not write $gvisor_program" \
		"run as root, or set SANDLOOP_RUNSC to another path"
	say gvisor "building runsc $gvisor_version: some minutes"
	local bin=$state/gvisor log=$state/gvisor.log
	mkdir -p "$bin"
	if ! GOBIN=$bin GOFLAGS='' CGO_ENABLED=0 go install -trimpath \
		-ldflags "-s -w -X gvisor.dev/gvisor/runsc/version.version=$gvisor_version" \
		"gvisor.dev/gvisor/runsc@$gvisor_version" >"$log" 2>&1 </dev/null; then
		tail -n 5 "$log" >&2
		give_up gvisor "runsc could not be built" "is the Go module proxy reachable? The full log is $log"
	fi
	install -m 755 "$bin/runsc" "$gvisor_program.new"
	mv "$gvisor_program.new" "$gvisor_program" # sandboxes that run keep the old one
	rm -rf "$bin"
	say gvisor "$gvisor_program installed"
}

gvisor_known() {
	docker info --format '{{range $name, $_ := .Runtimes}}{{println $name}}{{end}}' | grep -qx runsc
}

# gvisor_register adds the runtime to the daemon's configuration and leaves the rest as it is.
gvisor_register() {
	if [[ -e $gvisor_config && ! -w $gvisor_config || $EUID -ne 0 && -z ${SANDLOOP_DOCKER_CONFIG:-} ]]; then
		give_up gvisor "only root can add the runtime to $gvisor_config" \
			"as root add: \"runtimes\": {\"runsc\": {\"path\": \"$gvisor_program\"}}"
	fi
	command -v python3 >/dev/null || apt_install gvisor "editing $gvisor_config" python3-minimal
	mkdir -p "$(dirname "$gvisor_config")"
	if ! python3 - "$gvisor_config" "$gvisor_program" 2>>"$state/gvisor.log" <<-'END'; then
		import json, os, sys
		path, program = sys.argv[1:]
		config = json.loads(open(path).read() or "{}") if os.path.exists(path) else {}
		config.setdefault("runtimes", {}).setdefault("runsc", {"path": program})
		with open(path + ".new", "w") as out:
		    json.dump(config, out, indent=2)
		    out.write("\n")
		os.replace(path + ".new", path)
	END
		give_up gvisor "$gvisor_config could not be changed: $(tail -n 1 "$state/gvisor.log")" "repair it, and run this again"
	fi
	say gvisor "runsc added to the runtimes in $gvisor_config"
}

# gvisor_reload tells the daemon, if set-up started it or the user wants that. No container is touched.
gvisor_reload() {
	if [[ -e $dockerd_unit || -n ${SANDLOOP_RELOAD_DOCKER:-} ]] && [[ -d /run/systemd/system ]]; then
		say gvisor "having docker.service read its configuration again"
		systemctl reload docker.service
	elif runs_as dockerd "$dockerd_pid"; then
		say gvisor "having dockerd (process $(<"$dockerd_pid")) read its configuration again"
		kill -HUP "$(<"$dockerd_pid")"
	elif [[ -n ${SANDLOOP_RELOAD_DOCKER:-} ]] && runs_as dockerd /var/run/docker.pid; then
		say gvisor "having dockerd (process $(</var/run/docker.pid)) read its configuration again"
		kill -HUP "$(</var/run/docker.pid)"
	else
		give_up gvisor "set-up did not start this daemon, and leaves it alone" \
			"run: systemctl reload docker   (or: SANDLOOP_RELOAD_DOCKER=1 scripts/setup.sh gvisor)"
	fi
	local deadline=$((SECONDS + 20))
	until gvisor_known; do
		((SECONDS < deadline)) || give_up gvisor "the daemon does not know runsc after it read $gvisor_config" \
			"does it read that file (dockerd --config-file)? Its log tells"
		sleep 0.2
	done
}

# gvisor_try starts a container, where there is an image to start one of.
gvisor_try() {
	local image said
	for image in sandloop/core:latest sandloop/full:latest; do
		image_exists "$image" || continue
		said=$(timeout 60 docker run --rm --runtime runsc --network none "$image" cat /proc/version 2>&1) || true
		if [[ $said == *-gvisor* ]]; then
			say gvisor "a container of $image runs on runsc"
			return
		fi
		give_up gvisor "a container on runsc does not start" "Docker says: $(head -n 1 <<<"$said")"
	done
	say gvisor "no runtime image is here to try it with (scripts/setup.sh image core)"
}
