#!/usr/bin/env bash
# Makes what a Debian 13 virtual machine boots from, in the directory given:
# root.ext4, vmlinuz and initrd. Nothing is mounted for it; root is needed so
# that files keep their owners.
# Usage: rootfs.sh DIRECTORY
set -euo pipefail

suite=trixie
keyring=/usr/share/keyrings/debian-archive-keyring.gpg
packages=(
	linux-image-cloud-amd64 systemd-sysv dbus udev kmod
	docker.io docker-cli iptables procps
	apparmor # without it Docker names AppArmor, and confines nothing
	redis-server # the reaper's tests start one of their own
	rootlesskit slirp4netns iproute2 uidmap dbus-user-session libpam-systemd passwd # a Docker without root
)

# mirrors prints apt lines for the suite on the mirrors that this machine uses
# for Debian. Prints nothing where it uses none: mmdebstrap has a default.
mirrors() {
	# shellcheck disable=SC2016 # apt expands these
	apt-get indextargets --format '$(ORIGIN) $(COMPONENT) $(CODENAME) $(REPO_URI)' \
		'Created-By: Packages' 2>/dev/null |
		while read -r origin component codename uri; do
			[[ $origin == Debian && $component == main ]] || continue
			case $codename in
			*-security) echo "deb [signed-by=$keyring] $uri $suite-security main" ;;
			*-*) ;;
			*) echo "deb [signed-by=$keyring] $uri $suite main" ;;
			esac
		done | sort -u
}

# apt_settings prints what this machine needs to reach its mirrors at all.
apt_settings() {
	apt-config dump 2>/dev/null |
		grep -E '^Acquire::(https?::Proxy|Check-Valid-Until|Check-Date)' || true
}

# bootstrap ROOT leaves out what nobody reads in a test machine.
bootstrap() {
	local -a options=() lines=()
	local line
	while read -r line; do options+=(--aptopt="$line"); done < <(apt_settings)
	mapfile -t lines < <(mirrors)
	for line in doc man info locale lintian; do
		options+=(--dpkgopt="path-exclude=/usr/share/$line/*")
	done
	# No firmware, and no modules beyond those that a virtual disk needs.
	# shellcheck disable=SC2016 # mmdebstrap's shell expands $1, the new root
	options+=(
		--aptopt='APT::Install-Recommends "false"'
		--essential-hook='mkdir -p "$1/etc/initramfs-tools/conf.d"'
		--essential-hook='echo MODULES=list >"$1/etc/initramfs-tools/conf.d/sandloop"'
		--essential-hook='printf "%s\n" virtio_pci virtio_blk ext4 >"$1/etc/initramfs-tools/modules"'
	)
	mmdebstrap --quiet --variant=apt --format=directory --keyring="$keyring" \
		--include="$(IFS=,; echo "${packages[*]}")" "${options[@]}" "$suite" "$1" "${lines[@]}"
}

# configure ROOT makes the machine run the tests once it is up, and nothing else.
configure() {
	local root=$1 units=$1/etc/systemd/system
	echo sandloop-vm >"$root/etc/hostname"
	cat >"$root/etc/fstab" <<-END
		/dev/vda /             ext4  noatime                          0 0
		/dev/vdb /opt/sandloop ext4  noatime,x-systemd.device-timeout=0 0 0
	END
	cat >"$units/sandloop-tests.service" <<-END
		[Unit]
		Description=sandloop's container tests
		RequiresMountsFor=/opt/sandloop
		After=docker.service
		# Also without a result the machine must end.
		SuccessAction=poweroff-force
		FailureAction=poweroff-force

		[Service]
		Type=oneshot
		TimeoutStartSec=infinity
		ExecStart=/opt/sandloop/guest.sh
		StandardInput=null
		StandardOutput=tty
		StandardError=tty
		TTYPath=/dev/ttyS0
	END
	install -d "$root/opt/sandloop" "$units/multi-user.target.wants"
	ln -sf ../sandloop-tests.service "$units/multi-user.target.wants/"
	local unit
	for unit in serial-getty@ttyS0 getty@tty1 redis-server systemd-networkd-wait-online \
		apt-daily.timer apt-daily-upgrade.timer dpkg-db-backup.timer systemd-timesyncd; do
		ln -sf /dev/null "$units/${unit%.timer}.$([[ $unit == *.timer ]] && echo timer || echo service)"
	done
}

main() {
	local target=$1 work
	[[ $EUID -eq 0 ]] || { echo "rootfs.sh: must run as root" >&2; exit 1; }
	work=$(mktemp -d)
	# shellcheck disable=SC2064 # the value of now
	trap "rm -rf --one-file-system '$work'" EXIT
	bootstrap "$work/root"
	configure "$work/root"
	cp "$work/root"/boot/vmlinuz-* "$target/vmlinuz"
	cp "$work/root"/boot/initrd.img-* "$target/initrd"
	rm -rf "$work/root"/var/cache/apt/* "$work/root"/var/lib/apt/lists/*
	# Sparse: what is not used takes no room.
	mke2fs -q -F -t ext4 -L sandloop-root -d "$work/root" "$target/root.ext4" 8G
}

main "$@"
