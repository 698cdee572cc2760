# shellcheck shell=bash
# How set-up talks: one line a fact, with the step it belongs to.

say() { printf '%-7s %s\n' "$1:" "$2"; }

# give_up STEP WHAT HOW ends set-up with what is missing and how to get it.
give_up() {
	printf '%-7s %s\n' "$1:" "$2" >&2
	printf '%-7s %s\n' '' "$3" >&2
	exit 1
}
