# shellcheck shell=bash
# Runs inside a sandbox with a network and says what a program reaches there, a fact a line.
[ -n "${BASH_VERSION:-}" ] || exec bash "$0" "$@"
export LC_ALL=C

place=${HTTPS_PROXY##*@} login=${HTTPS_PROXY#http://}
gate=${place%:*} port=${place##*:} login=${login%@*}

# visit FACT HOST PORT says whether somebody answers. Who refuses a connection is there, too.
visit() {
	local said
	# shellcheck disable=SC2016 # the other shell expands it
	if said=$(timeout 4 bash -c 'exec 3<>"/dev/tcp/$1/$2"' - "$2" "$3" 2>&1); then
		echo "$1=connected"
	elif [[ $said == *refused* ]]; then
		echo "$1=somebody answers"
	else
		echo "$1=nobody answers"
	fi
}

# ask FACT LOGIN TARGET says what the gate answers to whoever wants to be connected.
ask() {
	local answer
	exec 3<>"/dev/tcp/$gate/$port" || return
	printf 'CONNECT %s HTTP/1.1\r\nHost: %s\r\nProxy-Authorization: Basic %s\r\n\r\n' "$3" "$3" "$(printf %s "$2" | base64)" >&3
	read -r -t 10 answer <&3
	answer=${answer%$'\r'}
	echo "$1=${answer#HTTP/1.1 }"
}

# The host's address, if it had one, would be that before the gate's.
while read -r address name _; do
	[[ $name != "$gate" ]] || host=${address%.*}.$((${address##*.} - 1))
done </etc/hosts

visit "the internet, past the gate" 1.1.1.1 443 &
visit "the host" "${host:-}" 22 &
visit "cloud metadata" 169.254.169.254 80 &
visit "the gate" "$gate" "$port" &
ask "the gate, without the job's password" "job:wrong" 192.0.2.1:443 &
ask "an address, through the gate" "$login" 192.0.2.1:443 &
if command -v getent >/dev/null; then
	if timeout 5 getent hosts example.com >/dev/null; then echo "a name=resolved"; else echo "a name=not resolved"; fi &
fi
# Docker can set a default route by the host's address, where "the host" tells whether somebody is. The kernel shows it backwards.
IFS=. read -r a b c d <<<"${host:-}"
nobody=${host:+$(printf '%02X%02X%02X%02X' "$d" "$c" "$b" "$a")}
if [[ -r /proc/net/route ]]; then
	while read -r interface destination by _; do
		[[ $destination != 00000000 || $by == "$nobody" ]] || echo "route=$interface by $by"
	done </proc/net/route
else
	echo "route=unknown"
fi
wait
