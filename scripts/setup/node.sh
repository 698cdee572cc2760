# shellcheck shell=bash
# Node.js and the client of another project that the test of `agent mcp` is driven
# with. Its packages go to a folder named after the lock file, outside of the sources.
: "${root:?}" # set by setup.sh

node_client=$root/internal/e2e/mcp
node_least=18

node_step() {
	node_need
	local modules
	modules=$(node_modules)
	if [[ -d $modules ]]; then
		say node "node $(node --version) and the client's packages already there"
		return
	fi
	say node "fetching the client's packages with npm"
	node_fetch "$(dirname "$modules")"
	say node "node $(node --version), packages in ${modules#"$root"/}"
}

# node_modules prints where internal/testenv looks for the packages, too.
node_modules() {
	echo "$root/.cache/node-$(sha256sum "$node_client/package-lock.json" | cut -c1-12)/node_modules"
}

node_need() {
	if ! { command -v node && command -v npm; } >/dev/null; then
		apt_install node "the test with a client from npm" nodejs npm
	fi
	local version
	version=$(node --version)
	version=${version#v}
	((${version%%.*} >= node_least)) || give_up node "node $version is too old" \
		"install Node.js $node_least or newer and put it on the PATH"
}

# node_fetch DIR makes the folder at once or not at all.
node_fetch() {
	local dir=$1 part=$1.part log=$root/.cache/npm.log
	rm -rf "$part"
	mkdir -p "$part"
	cp "$node_client"/package{,-lock}.json "$part"
	# What is fetched is checked against the hashes of the lock file, and none of it runs now.
	if ! npm ci --prefix "$part" --ignore-scripts --no-audit --no-fund --no-update-notifier </dev/null >"$log" 2>&1; then
		tail -n 5 "$log" >&2
		give_up node "npm could not fetch the client's packages" "is a registry reachable? The full log is $log"
	fi
	rm -rf "$dir"
	mv "$part" "$dir"
}
