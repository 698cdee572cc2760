# shellcheck shell=bash
# Installs Debian packages, and never starts a service by doing so.
: "${state:?}" # set by setup.sh

policy=/usr/sbin/policy-rc.d

# shellcheck source=scripts/setup/lock.sh
. "$(dirname "${BASH_SOURCE[0]}")/lock.sh"

# apt_install STEP PURPOSE PACKAGE... gives up with a hint where it cannot.
apt_install() {
	local step=$1 purpose=$2
	shift 2
	if ! command -v apt-get >/dev/null; then
		give_up "$step" "$purpose is missing, and this system has no apt" \
			"install what Debian calls: $*"
	fi
	if [[ $EUID -ne 0 ]]; then
		give_up "$step" "$purpose is missing, and only root can install it" \
			"run as root: apt-get install $*"
	fi
	say "$step" "installing $* for $purpose"
	with_lock apt apt_try "$@" && return
	tail -n 5 "$state/apt.log" >&2
	give_up "$step" "apt could not install $*" "the full log is $state/apt.log"
}

# apt_try refreshes the package lists only when it has to, as that takes longer
# than most installs.
apt_try() {
	: >"$state/apt.log"
	without_services apt_get install -y "$@" && return
	# One dead repository must not stop the rest: the install below decides.
	apt_get update || true
	without_services apt_get install -y "$@"
}

apt_get() {
	DEBIAN_FRONTEND=noninteractive apt-get -q --no-install-recommends \
		-o DPkg::Lock::Timeout=300 -o Acquire::Retries=2 "$@" \
		</dev/null >>"$state/apt.log" 2>&1 9>&-
}

# without_services COMMAND... runs it while Debian's policy layer denies every
# service start. A policy that is already there stays as it is.
without_services() (
	if [[ ! -e $policy ]] || grep -q sandloop "$policy"; then
		trap 'rm -f "$policy"' EXIT
		printf '#!/bin/sh\n# for the time of a sandloop set-up\nexit 101\n' >"$policy"
		chmod 755 "$policy"
	fi
	"$@"
)
