# shellcheck shell=bash
# The redis-server program. Tests start their own on a free port, so the
# service that comes with the package stays off.

redis_step() {
	if command -v redis-server >/dev/null; then
		say redis "$(redis_version) already there"
		return
	fi
	apt_install redis "the tests' Redis" redis-server
	if [[ -d /run/systemd/system ]]; then
		systemctl disable --quiet redis-server.service 2>/dev/null || true
	fi
	say redis "$(redis_version) installed; its service stays off"
}

redis_version() { redis-server --version | sed -E 's/.* v=([0-9.]+).*/redis-server \1/'; }
