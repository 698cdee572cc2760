# shellcheck shell=bash
# Set-ups that run at once take turns, each step by itself.

: "${state:?}" # set by setup.sh

# with_lock NAME COMMAND... runs the command while no other set-up of this
# user holds the lock of that name. What outlives the command must be started
# with 9>&-, or it keeps the lock.
with_lock() (
	mkdir -p "$state"
	exec 9>"$state/$1.lock"
	if ! flock --nonblock 9; then
		say setup "another set-up is busy with $1: waiting for it"
		flock 9
	fi
	shift
	"$@"
)
