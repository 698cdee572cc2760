#!/usr/bin/env bash
# Writes the root file system of a runtime image to stdout as a tar archive,
# made from Debian packages alone: no registry is needed.
# Usage: from-debian.sh PACKAGE...
set -euo pipefail

suite=bookworm
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)

# mirrors prints apt lines for the suite on the mirrors that this machine uses
# for Debian, whatever release it runs itself. Prints nothing on a machine that
# uses none (Ubuntu): mmdebstrap then takes its own default.
mirrors() {
	# shellcheck disable=SC2016 # apt expands these
	apt-get indextargets --format '$(ORIGIN) $(COMPONENT) $(CODENAME) $(REPO_URI)' \
		'Created-By: Packages' 2>/dev/null |
		while read -r origin component codename uri; do
			[[ $origin == Debian && $component == main ]] || continue
			case $codename in
			*-security) echo "deb $uri $suite-security main" ;;
			*-*) ;;
			*) printf 'deb %s %s main\n' "$uri" "$suite" "$uri" "$suite-updates" ;;
			esac
		done | sort -u
}

# apt_settings prints what this machine needs to reach its mirrors at all:
# a proxy, or leave to use a mirror that is frozen in time.
apt_settings() {
	apt-config dump 2>/dev/null |
		grep -E '^Acquire::(https?::Proxy|Check-Valid-Until|Check-Date)' || true
}

main() {
	local -a options=() lines=()
	local line
	while read -r line; do options+=(--aptopt="$line"); done < <(apt_settings)
	mapfile -t lines < <(mirrors)
	for line in doc man info locale lintian; do
		options+=(--dpkgopt="path-exclude=/usr/share/$line/*")
	done
	# shellcheck disable=SC2016 # mmdebstrap's shell expands $1, the new root
	options+=(
		# A JDK cannot be configured without this directory.
		--essential-hook='mkdir -p "$1/usr/share/man/man1"'
		--customize-hook="chroot \"\$1\" sh -s <'$here/finish.sh'"
	)
	mmdebstrap --variant=essential --format=tar --include="$*" \
		"${options[@]}" "$suite" - "${lines[@]}"
}

main "$@"
