# shellcheck shell=sh
# Runs inside a sandbox and says what a program can do there, a fact a line.
# $1 is a port of the host's loopback interface on which somebody listens.

# try FACT COMMAND... says whether a command was allowed.
try() {
	fact=$1
	shift
	if ("$@") >/dev/null 2>&1; then echo "$fact=allowed"; else echo "$fact=refused"; fi
}

create() { : >"$1"; }
open_to_read() { : <"$1"; }
execute() { printf '#!/bin/sh\n' >"$1" && chmod 755 "$1" && "$1"; }
first_byte() { [ "$(head -c 1 "$1" | wc -c)" -eq 1 ]; }
connect() { timeout 3 bash -c "exec 3<>/dev/tcp/$1/$2"; }

try "write to /" create /sandloop-probe
try "write to /etc" create /etc/sandloop-probe
try "write to /usr/bin" create /usr/bin/sandloop-probe
try "write to sandbox-init" create /.sandloop/sandbox-init
try "write to /tmp" create /tmp/sandloop-probe
try "write to /workspace" create /workspace/sandloop-probe
try "execute in /tmp" execute /tmp/sandloop-script
try "execute in /workspace" execute /workspace/sandloop-script
try "read /etc/shadow" cat /etc/shadow
# Where Docker masks a file, it is there and empty.
try "read /proc/kcore" first_byte /proc/kcore
try "read environment of PID 1" cat /proc/1/environ
try "list files of PID 1" ls /proc/1/fd/
try "open files of PID 1" open_to_read /proc/1/fd/0
try "change kernel settings" create /proc/sys/kernel/core_pattern
try "write to /sys" create /sys/fs/cgroup/sandloop-probe
try "mount a file system" mount -t tmpfs none /tmp
try "make a device node" mknod /tmp/sandloop-disk b 8 0
try "give a file to root" chown 0 /workspace/sandloop-probe
try "see Docker's socket" ls /var/run/docker.sock /run/docker.sock
if command -v bash >/dev/null && command -v timeout >/dev/null; then
	try "connect to the internet" connect 1.1.1.1 53
	try "connect to the host" connect 127.0.0.1 "$1"
fi
# Docker's own profile lets a program take another personality.
if command -v setarch >/dev/null; then try "act as a 32-bit machine" setarch linux32 true; fi
if read -r confined </proc/self/attr/current; then echo "apparmor=$confined"; fi 2>/dev/null
read -r _ outside _ </proc/self/uid_map && echo "root outside=$outside"

while read -r key value; do
	case $key in
	Uid: | Gid: | Groups: | CapInh: | CapPrm: | CapEff: | CapBnd: | CapAmb: | NoNewPrivs: | Seccomp:) echo "status $key=$value" ;;
	esac
done </proc/self/status
for device in /dev/*; do
	[ ! -b "$device" ] || echo "block device=$device"
done
while read -r interface _; do
	case $interface in
	lo:* | Inter-* | face*) ;;
	*) echo "interface=$interface" ;;
	esac
done </proc/net/dev
env | while read -r variable; do echo "env=$variable"; done
