#!/usr/bin/env bash
# Gets a machine ready to run sandloop. Every step says what it does, does
# nothing when its result is already there, and can be called by itself.
set -euo pipefail

root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
export PATH=$PATH:/usr/sbin:/sbin # dockerd is there, and su leaves it out

# What set-up starts is noted here and not in the checkout, so that `stop`
# finds it from any clone, and also after `make clean`.
state=${SANDLOOP_STATE:-${XDG_STATE_HOME:-${HOME:-/root}/.local/state}/sandloop}

# shellcheck source=scripts/setup/say.sh
. "$root/scripts/setup/say.sh"
# shellcheck source=scripts/setup/apt.sh
. "$root/scripts/setup/apt.sh"
# shellcheck source=scripts/setup/docker.sh
. "$root/scripts/setup/docker.sh"
# shellcheck source=scripts/setup/redis.sh
. "$root/scripts/setup/redis.sh"
# shellcheck source=scripts/setup/tools.sh
. "$root/scripts/setup/tools.sh"
# shellcheck source=scripts/setup/node.sh
. "$root/scripts/setup/node.sh"
# shellcheck source=scripts/setup/image.sh
. "$root/scripts/setup/image.sh"
# shellcheck source=scripts/setup/gvisor.sh
. "$root/scripts/setup/gvisor.sh"

usage() {
	cat <<-END
		Usage: scripts/setup.sh [STEP...]     (no step: docker redis image core)

		  docker        a Docker daemon that answers; installed and started if need be
		  redis         the redis-server program, for the tests; not started
		  tools         what building, testing and linting need beside Go
		  node          Node.js and the packages of the test that drives \`agent mcp\`
		  gvisor        runsc as a runtime of the Docker daemon; built and registered if need be
		  image NAME    the runtime image sandloop/NAME; NAME is core or full
		  stop          stops what set-up itself started, and nothing else

		Environment
		  DOCKER_HOST            the daemon to use, as for docker itself
		  SANDLOOP_STATE         where pid file and log of a started dockerd are
		                         (now $state)
		  SANDLOOP_DOCKERD_FLAGS more flags for a dockerd that set-up starts
		  SANDLOOP_BASE_IMAGE    base that runtime images are built on when it is here or
		                         a registry has it (the pinned one of images/Dockerfile)
		  SANDLOOP_RELOAD_DOCKER with any value, \`gvisor\` may have a daemon that set-up did not start
		                         read its configuration again
	END
}

main() {
	case ${1:-} in
	-h | --help | help)
		usage
		return
		;;
	esac
	[[ $# -gt 0 ]] || set -- docker redis image core
	while [[ $# -gt 0 ]]; do
		case $1 in
		docker) with_lock docker docker_step ;;
		redis) redis_step ;;
		tools) tools_step ;;
		node) with_lock node node_step ;;
		gvisor) with_lock gvisor gvisor_step ;;
		stop) with_lock docker docker_stop ;;
		image)
			shift
			image_step "${1:-}"
			;;
		*)
			usage >&2
			exit 2
			;;
		esac
		shift
	done
}

main "$@"
