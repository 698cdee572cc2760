#!/usr/bin/env bash
# Runs the container tests inside a Debian 13 virtual machine: kernel 6.12,
# cgroup v2, Docker 26. Needs a Linux on amd64, and no virtualisation.
set -euo pipefail

root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
export PATH=$PATH:/usr/sbin:/sbin

state=${SANDLOOP_STATE:-${XDG_STATE_HOME:-${HOME:-/root}/.local/state}/sandloop}
cache=${SANDLOOP_CACHE:-${XDG_CACHE_HOME:-${HOME:-/root}/.cache}/sandloop}/vm
image=${SANDLOOP_TEST_IMAGE:-sandloop/core:latest}
minutes=${SANDLOOP_VM_TIMEOUT:-90}
wanted=(check rootless internal/sandbox/supervisor internal/sandbox/docker internal/reaper)
# Software emulation ends a machine now and then, in a panic that is not the tests' doing.
boots=4
panicked=3
# Emulated AVX is several times slower than what programs use without it.
declare -A processor=([kvm]=host [tcg]="max,-avx,-avx2,la57=off")

# shellcheck source=scripts/setup/say.sh
. "$root/scripts/setup/say.sh"
# shellcheck source=scripts/setup/apt.sh
. "$root/scripts/setup/apt.sh"

usage() {
	cat <<-END
		Usage: scripts/test-vm.sh [check] [rootless] [PACKAGE...]

		Runs \`worker check\`, the same before a rootless Docker, and the tests of packages, each in
		a machine of its own; by default:
		  ${wanted[*]}
		The exit status is 0 when every test passed and each machine ended by itself. A machine
		whose emulated kernel panics is booted again, up to $boots times, for the tests that
		had not passed.

		Environment
		  SANDLOOP_CACHE         where the machine's disks are kept (now ${cache%/vm})
		  SANDLOOP_TEST_IMAGE    the runtime image to test with (sandloop/core:latest)
		  SANDLOOP_VM_TIMEOUT    minutes for a run of a machine (90)
		  SANDLOOP_VM_RUN        run only the tests that match, as for go test -run
		  SANDLOOP_VM_MEMORY     in megabytes (3584)
		  SANDLOOP_TIME_SCALE    factor on the tests' time limits (20, or 1 with KVM)
	END
}

# need COMMAND PURPOSE PACKAGE...
need() {
	local command=$1
	shift
	command -v "$command" >/dev/null || apt_install vm "$@"
}

need_tools() {
	need qemu-system-x86_64 "the virtual machine" qemu-system-x86
	need qemu-img "its disks" qemu-utils
	need mmdebstrap "building its root file system" mmdebstrap debian-archive-keyring
	need mke2fs "building its disks" e2fsprogs
	command -v go >/dev/null || give_up vm "Go is missing" "install it and put it on the PATH"
	has_image || [[ $image != sandloop/core:latest ]] || "$root/scripts/setup.sh" docker image core
	has_image || give_up vm "there is no image $image to take into the machine" "build or pull it"
}

has_image() { docker image inspect "$image" >/dev/null 2>&1; }

# accelerator prints kvm where the processor has it. A device without the
# processor's help is itself an emulation, which does not boot this kernel.
accelerator() {
	if [[ -w /dev/kvm ]] && grep -qwE 'vmx|svm' /proc/cpuinfo; then echo kvm; else echo tcg; fi
}

# root_disk makes the root disk unless one of the same recipe is there, and sets
# disk to its directory.
root_disk() {
	local recipe
	recipe=$(sha256sum <"$root/scripts/vm/rootfs.sh" | cut -c1-12)
	disk=$cache/root-$recipe
	if [[ ! -e $disk ]]; then
		say vm "building the machine's root file system (about two minutes, once)"
		[[ $EUID -eq 0 ]] || give_up vm "only root can build it" "run as root: make test-vm"
		rm -rf "$cache"/root-*
		mkdir "$disk.new"
		"$root/scripts/vm/rootfs.sh" "$disk.new"
		mv "$disk.new" "$disk"
	fi
}

# image_disk makes a disk on top of the root disk that has the runtime image, unless
# it is there, and sets image_file to it. The machine itself loads the image.
image_disk() {
	local id
	id=$(docker image inspect --format '{{.Id}}' "$image")
	image_file=$disk/image-${id#sha256:}.qcow2
	if [[ ! -e $image_file ]]; then
		say vm "loading $image into the machine (some minutes, once for an image)"
		rm -f "$disk"/image-*
		docker save --output "$work/image.tar" "$image"
		qemu-img create -q -f qcow2 -b "$disk/root.ext4" -F raw "$work/image.qcow2"
		payload_for_image "$work/load.ext4"
		boot "$work/image.qcow2" off "$work/load.ext4" -drive "file=$work/image.tar,format=raw,if=virtio,readonly=on" ||
			give_up vm "the machine did not take the image in" "run it again"
		mv "$work/image.qcow2" "$image_file"
		rm -f "$work/image.tar" "$work/load.ext4"
	fi
}

# payload_for_image FILE makes a disk with nothing to test.
payload_for_image() {
	local payload=$work/load
	mkdir -p "$payload"
	cp "$root/scripts/vm/guest.sh" "$payload/"
	echo "SANDLOOP_TEST_IMAGE=$image" >"$payload/environment"
	mke2fs -q -F -t ext4 -d "$payload" "$1" 16M >/dev/null 2>&1
}

# build_tests makes the sources (tests read their neighbours), the programs and the tests.
build_tests() {
	local program package
	mkdir -p "$payload/source/bin" "$payload/tests"
	# A file that was deleted and not committed is in the list, and no loss.
	(cd "$root" && git ls-files -z --cached --others --exclude-standard |
		tar --null --files-from=- --ignore-failed-read --create --file=- 2>/dev/null) |
		tar --extract --directory "$payload/source"
	cp "$root/scripts/vm/guest.sh" "$payload/"
	for program in sandbox-init egress-proxy worker; do
		(cd "$root" && CGO_ENABLED=0 nice go build -o "$payload/source/bin/" "./cmd/$program")
	done
	for package in "${wanted[@]}"; do
		[[ $package == */* ]] || continue
		(cd "$root" && CGO_ENABLED=0 nice go test -c -o "$payload/tests/${package//\//-}.test" "./$package")
		[[ -e $payload/tests/${package//\//-}.test ]] || give_up vm "$package has no tests" "name another package"
	done
}

# payload_disk FILE PACKAGE SKIP makes the disk with what was built and what to run of it.
payload_disk() {
	echo "$2 ${2//\//-}.test" >"$payload/wanted"
	# Tests have less time than the machine, so that one that hangs is named.
	cat >"$payload/environment" <<-END
		CI=true
		SANDLOOP_INIT=/opt/sandloop/source/bin/sandbox-init
		SANDLOOP_EGRESS_PROXY=/opt/sandloop/source/bin/egress-proxy
		SANDLOOP_TEST_IMAGE=$image
		SANDLOOP_TIME_SCALE=${SANDLOOP_TIME_SCALE:-$([[ $accelerator == kvm ]] && echo 1 || echo 20)}
		TEST_TIMEOUT=$((minutes * 3 / 4))m
		TEST_RUN='${SANDLOOP_VM_RUN:-.}'
		TEST_SKIP='$3'
	END
	mke2fs -q -F -t ext4 -d "$payload" "$1" 2G >/dev/null 2>&1
}

# test_package PACKAGE gives the status of its tests. After a panic the tests that passed
# are not run again; one that failed stays failed.
test_package() {
	local package=$1 skip='' failed=0 status boot
	for ((boot = 1; boot <= boots; boot++)); do
		status=0
		rm -f "$work/payload.ext4"
		payload_disk "$work/payload.ext4" "$package" "${skip:+^($skip)\$}"
		say vm "booting for $package (accelerator: $accelerator)"
		boot "$image_file" on "$work/payload.ext4" || status=$?
		((status == panicked)) || return $((status | failed))
		[[ -z $(outcomes FAIL) ]] || failed=1
		skip+=$(outcomes PASS | sed 's/^/|/' | tr -d '\n')
		skip=${skip#|}
		say vm "the machine's kernel panicked; tests that had passed by then: $(tr '|' '\n' <<<"$skip" | grep -c .)"
	done
	give_up vm "the machine's kernel panicked $boots times" "its last words are above"
}

# outcomes PASS|FAIL prints the tests that the console has with that outcome.
outcomes() { sed -n "s/^--- $1: \([A-Za-z0-9_]*\) .*/\1/p" "$work/console"; }

# boot DISK SNAPSHOT PAYLOAD [QEMU-OPTION...] runs the machine until it ends, with its
# console on stdout, and gives the status that it ended with, or $panicked. With SNAPSHOT
# on, what it writes on its disk goes to a temporary file.
boot() {
	local console=$work/console code=0 status
	local -a options=(
		-machine accel="$accelerator" -cpu "${processor[$accelerator]}" -smp 2 -m "${SANDLOOP_VM_MEMORY:-3584}"
		-nodefaults -display none -no-reboot -serial "file:$console"
		-kernel "$disk/vmlinuz" -initrd "$disk/initrd"
		-append "root=/dev/vda rw console=ttyS0 quiet loglevel=3 panic=-1 nosoftlockup mitigations=off systemd.show_status=false systemd.log_color=false"
		-drive "file=$1,if=virtio,cache=unsafe,snapshot=$2"
		-drive "file=$3,format=raw,if=virtio,cache=unsafe"
		"${@:4}"
	)
	: >"$console"
	TMPDIR=$work nice timeout "${minutes}m" qemu-system-x86_64 "${options[@]}" </dev/null &
	machine=$!
	# In the background, since a signal's trap waits for what is in the foreground.
	tail --follow --lines=+1 --sleep-interval=0.5 --pid="$machine" "$console" | sed -u 's/\r//g; s/\x1b[^a-zA-Z]*[a-zA-Z]//g' &
	wait "$machine" || code=$?
	machine=
	wait "$!"
	status=$(sed -n 's/^vm: finished with status \([0-9]*\)\r*$/\1/p' "$console" | tail -n 1)
	if [[ $code -eq 124 ]]; then
		give_up vm "the machine did not end within $minutes minutes" "its last words are above"
	elif [[ -z $status ]] && grep -qF 'Kernel panic - ' "$console"; then
		return "$panicked"
	elif [[ $code -ne 0 || -z $status ]]; then
		give_up vm "the machine ended without a result (qemu's status: $code)" "its last words are above"
	fi
	return "$status"
}

clean_up() {
	# Ending timeout(1) ends the machine that it watches.
	if [[ -n ${machine:-} ]]; then
		kill "$machine" 2>/dev/null || true
		wait "$machine" || true
	fi
	rm -rf "$work"
}

main() {
	case ${1:-} in
	-h | --help | help)
		usage
		return
		;;
	esac
	[[ $# -eq 0 ]] || wanted=("$@")
	mkdir -p "$state" "$cache"
	need_tools
	exec 8>"$cache/lock"
	flock 8
	work=$(mktemp -d "$cache/run-XXXXXX")
	machine=
	trap clean_up EXIT
	trap 'exit 130' INT TERM HUP

	accelerator=$(accelerator)
	payload=$work/payload
	local package status=0
	root_disk
	image_disk
	say vm "building the tests"
	build_tests
	for package in "${wanted[@]}"; do
		test_package "$package" || status=1
		say vm "$package is done, $SECONDS s from the start; status so far $status"
	done
	exit "$status"
}

main "$@"
