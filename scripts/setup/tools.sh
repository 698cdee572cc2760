# shellcheck shell=bash
# What building, testing and linting need. The linters themselves are Go
# programs that the Makefile builds from tools/go.mod.
: "${root:?}" # set by setup.sh

tools_step() {
	if ! command -v go >/dev/null; then
		give_up tools "Go is missing" \
			"install Go $(sed -n 's/^go //p' "$root/go.mod") or newer from https://go.dev/dl and put it on the PATH"
	fi
	tools_need gcc "the race detector's C compiler" gcc libc6-dev
	tools_need shellcheck "checking the scripts" shellcheck
	say tools "$(go env GOVERSION), gcc and shellcheck are there"
}

# tools_need COMMAND PURPOSE PACKAGE...
tools_need() {
	local command=$1
	shift
	command -v "$command" >/dev/null || apt_install tools "$@"
}
