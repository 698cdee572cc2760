#!/usr/bin/env bash
# Makes the secrets of an installation in a folder: keys, passwords of Redis, the token of the pages, and users.acl, which has the hashes of
# the passwords. What is there stays, and what is missing is made; users.acl follows the passwords. docs/security-setup.md tells what each is for.
# Usage: scripts/secrets.sh FOLDER
set -euo pipefail

root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
folder=${1:-}

main() {
	if [[ $folder == --help ]]; then
		sed -n '2,/^set /s/^# //p' "${BASH_SOURCE[0]}"
		return
	fi
	if (($# != 1)) || [[ -z $folder || $folder == -* ]]; then
		echo "secrets: want one folder" >&2
		sed -n 's/^# \(Usage: .*\)/\1/p' "${BASH_SOURCE[0]}" >&2
		exit 2
	fi
	umask 077
	mkdir -p "$folder"
	local name
	for name in sign-key seal-key worker-password producer-password admin-token; do
		random "$folder/$name"
	done
	users "$folder/users.acl"
}

# random FILE writes 32 random bytes in hexadecimal, and a newline, so that a second key or password can be appended.
random() {
	local secret
	if [[ -e $1 ]]; then
		[[ -s $1 ]] || give_up "$1 is empty: remove it, and run this again"
		echo "secrets: $1 is there, and stays"
		return
	fi
	secret=$(od -An -N 32 -tx1 /dev/urandom | tr -d ' \n')
	(set -o noclobber && echo "$secret" >"$1")
	echo "secrets: $1 made"
}

# users FILE writes the users of Redis. It writes in place: so the file stays its owner's, and a container that has it mounted sees the change.
# A disk that is full must not leave it empty, for with no users at all Redis lets in everybody: a copy comes first.
users() {
	local worker producer acl
	worker=$(hashes "$folder/worker-password")
	producer=$(hashes "$folder/producer-password")
	acl=$(<"$root/deploy/redis/users.acl")
	acl=${acl//'#WORKER_PASSWORD_SHA256'/"$worker"}
	acl=${acl//'#PRODUCER_PASSWORD_SHA256'/"$producer"}
	if [[ -e $1 && $(<"$1") == "$acl" ]]; then
		echo "secrets: $1 is there, and has these passwords"
		return
	fi
	echo "$acl" >"$1.new"
	if [[ ! -e $1 ]]; then
		mv "$1.new" "$1"
		echo "secrets: $1 made"
		return
	fi
	cat "$1.new" >"$1"
	rm "$1.new"
	echo "secrets: $1 made anew, since the passwords or deploy/redis/users.acl are others; Redis must read it again"
}

# hashes FILE prints the hash of each line of a file of passwords. Programs use the first; the others are let in, too.
hashes() {
	local password hash all=''
	[[ -r $1 ]] || give_up "$1 cannot be read: run this as its owner, or as root"
	while IFS= read -r password || [[ -n $password ]]; do
		password=${password%$'\r'}
		[[ -n $password ]] || give_up "$1 has an empty line: want a password on each"
		[[ $password != '#'* ]] || give_up "$1 has a line that begins with #: want a password on each, and no comments"
		hash=$(printf %s "$password" | sha256sum | cut -d ' ' -f 1)
		[[ $hash =~ ^[0-9a-f]{64}$ ]] || give_up "sha256sum gave no hash of a line of $1"
		all+="${all:+ }#$hash"
	done <"$1"
	echo "$all"
}

give_up() {
	echo "secrets: $1" >&2
	exit 1
}

main "$@"
