#!/bin/bash
# Runs as root inside the virtual machine, once Docker is up; its output is
# the serial console. The last line carries the status to the outside.
set -uo pipefail
export PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin HOME=/root TERM=dumb

payload=/opt/sandloop
source=$payload/source
status=0

# step WHAT COMMAND... runs it, and remembers when one does not succeed.
step() {
	local what=$1 began=$SECONDS code=0
	shift
	echo "vm: === $what"
	"$@" || code=$?
	echo "vm: --- $what: status $code after $((SECONDS - began)) s"
	[[ $code -eq 0 ]] || status=1
}

about() {
	echo "vm: up after $(cut -d' ' -f1 /proc/uptime) s"
	echo "vm: Debian $(</etc/debian_version), kernel $(uname -r), $(nproc) processors"
	docker version --format 'vm: Docker {{.Server.Version}}, API {{.Server.APIVersion}}' &&
		docker info --format 'vm: cgroup v{{.CgroupVersion}} ({{.CgroupDriver}}), {{.Driver}}, {{.DefaultRuntime}}' &&
		runc --version | sed -n '1s/^/vm: /p'
}

# The image is a tar archive that lies bare on the third disk.
load_image() { docker load --quiet </dev/vdc && systemctl stop docker.socket docker containerd; }

# limits starts a container and has the kernel say what binds it.
limits() {
	local -a files=(memory.max memory.swap.max pids.max cpu.max)
	local got want
	want=$(printf '%s\n' 268435456 0 80 '50000 100000')
	got=$(docker run --rm --network none --memory 256m --memory-swap 256m --pids-limit 80 --cpus 0.5 \
		"$SANDLOOP_TEST_IMAGE" cat "${files[@]/#//sys/fs/cgroup/}") || return
	paste <(printf '%s\n' "${files[@]}") <(echo "$want") <(echo "$got")
	[[ $got == "$want" ]]
}

# check gives programs the time that an emulated processor takes; all other limits are the
# usual ones.
check() {
	SANDLOOP_LIMITS_DEFAULTS_WALL_TIME=10m SANDLOOP_LIMITS_DEFAULTS_CPU_TIME=10m \
		SANDLOOP_LIMITS_DEFAULTS_COMPILE_TIME=5m "$source/bin/worker" check
}

# rootless checks before the daemon of an ordinary user, to whom systemd gives the controllers that docs/security-setup.md names.
rootless() {
	local run=/run/user/1000 delegate=/run/systemd/system/user@.service.d docker=unix:///run/user/1000/docker.sock
	local -a as_user=(runuser -u user -- env XDG_RUNTIME_DIR="$run" DBUS_SESSION_BUS_ADDRESS="unix:path=$run/bus" PATH="$PATH")
	mkdir -p "$delegate"
	printf '[Service]\nDelegate=cpu cpuset io memory pids\n' >"$delegate/delegate.conf"
	systemctl daemon-reload && modprobe tun && useradd --create-home --uid 1000 user && loginctl enable-linger user || return
	until [[ -S $run/bus ]]; do sleep 1; done
	"${as_user[@]}" systemd-run --quiet --user --unit docker --property Delegate=yes --setenv PATH="$PATH" \
		/usr/share/docker.io/contrib/dockerd-rootless.sh || return
	until docker --host "$docker" version >/dev/null 2>&1; do
		"${as_user[@]}" systemctl --user --quiet is-active docker || { journalctl --no-pager --lines 50 _UID=1000; return 1; }
		sleep 1
	done
	docker --host "$docker" info --format 'vm: {{.SecurityOptions}}, cgroup v{{.CgroupVersion}} ({{.CgroupDriver}}), {{.Driver}}'
	docker save "$SANDLOOP_TEST_IMAGE" | docker --host "$docker" load --quiet || return
	local -x DOCKER_HOST=$docker
	check && nothing_left
}

# run_tests PACKAGE BINARY runs a test binary where `go test` would. Most of the time a test
# waits for limits, which are long here, so more run at once than there are processors.
run_tests() {
	cd "$source/$1" && "$payload/tests/$2" -test.v -test.parallel 3 -test.timeout "$TEST_TIMEOUT" -test.run "$TEST_RUN" -test.skip "$TEST_SKIP"
}

# test_everything runs what the payload holds.
test_everything() {
	local package binary
	step 'limits of a container, asked and read back' limits
	while read -r package binary <&3; do
		case $package in
		check) step 'worker check' check ;;
		rootless) step 'worker check before a rootless Docker' rootless ;;
		*) step "tests of $package" run_tests "$package" "$binary" ;;
		esac
	done 3<"$payload/wanted"
	step 'nothing is left' nothing_left
}

# nothing_left fails when a container outlived the tests.
nothing_left() {
	local left
	left=$(docker ps --all --format '{{.Names}} {{.Status}}') || return
	[[ -z $left ]] || { echo "$left"; return 1; }
}

main() {
	set -a
	# shellcheck disable=SC1091 # written by test-vm.sh
	. "$payload/environment"
	set +a
	step 'the machine' about
	# Without tests the machine was started to take the image in.
	if [[ -e $payload/wanted ]]; then test_everything; else step 'loading the image' load_image; fi
	sync
	echo "vm: finished with status $status"
}

main
