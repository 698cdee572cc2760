# shellcheck shell=bash
# The runtime images. What goes into one is in images/; its tag is a hash of
# that, so a changed recipe is built and an unchanged one is found at once.
: "${root:?}" "${state:?}" # set by setup.sh

image_step() {
	local name=$1
	[[ $name == core || $name == full ]] || give_up image "no image named '$name'" "name core or full"
	docker_version >/dev/null || give_up image "no Docker daemon answers" "run: scripts/setup.sh docker"
	with_lock "image-$name" image_ensure "$name"
}

image_ensure() {
	local name=$1 recipe ref packages
	recipe=$(image_recipe "$name")
	ref=sandloop/$name:$recipe
	if image_exists "$ref"; then
		say image "$ref already there"
	else
		packages=$(image_packages "$name")
		image_build "$ref" "$recipe" "$packages"
		say image "$ref built, $(image_megabytes "$ref") MB"
	fi
	docker tag "$ref" "sandloop/$name:latest"
}

image_exists() { docker image inspect "$1" >/dev/null 2>&1; }

image_megabytes() { echo $(($(docker image inspect --format '{{.Size}}' "$1") / 1000000)); }

image_lists() {
	echo "$root/images/core.packages"
	[[ $1 == core ]] || echo "$root/images/$1.packages"
}

image_packages() {
	local -a lists
	mapfile -t lists < <(image_lists "$1")
	sed 's/#.*//' "${lists[@]}" | xargs
}

image_recipe() {
	local -a files
	mapfile -t files < <(image_lists "$1")
	files+=("$root/images/"{Dockerfile,finish.sh,from-debian.sh})
	cat "${files[@]}" | sha256sum | cut -c1-12
}

# image_build REF RECIPE PACKAGES prefers the base of a registry, which most
# people know, and else makes the image from Debian packages alone.
image_build() {
	local base
	base=${SANDLOOP_BASE_IMAGE:-$(sed -n 's/^ARG BASE=//p' "$root/images/Dockerfile")}
	if image_base "$base" 5; then
		say image "building $1 on $base"
		image_from_base "$base" "$@" && return
		say image "that build failed (log: $state/image.log)"
	else
		say image "no registry gave $base within 5 s"
	fi
	if image_need_mmdebstrap; then
		say image "building $1 from Debian packages: a minute for core, some more for full"
		image_from_debian "$@" && return
	elif image_base "$base" 300; then
		say image "building $1 on $base, which came late"
		image_from_base "$base" "$@" && return
	else
		give_up image "neither a registry nor mmdebstrap is at hand to build $1" \
			"run as root on Debian or Ubuntu: apt-get install mmdebstrap   (or: docker pull $base)"
	fi
	tail -n 15 "$state/image.log" >&2
	give_up image "$1 could not be built" "the full log is $state/image.log"
}

# image_base REF SECONDS tells whether the base is here or can be pulled in that time.
image_base() { image_exists "$1" || timeout "$2" docker pull --quiet "$1" >/dev/null 2>&1; }

# The host's network is used because a daemon may have no other.
image_from_base() {
	docker build --network host --build-arg BASE="$1" --build-arg PACKAGES="$4" \
		--label "dev.sandloop.recipe=$3" --tag "$2" "$root/images" >"$state/image.log" 2>&1
}

image_need_mmdebstrap() {
	command -v mmdebstrap >/dev/null && return
	[[ $EUID -eq 0 ]] && command -v apt-get >/dev/null || return 1
	local -a packages=(mmdebstrap)
	[[ -e /usr/share/keyrings/debian-archive-keyring.gpg ]] || packages+=(debian-archive-keyring)
	apt_install image "building images from Debian packages" "${packages[@]}"
}

# image_from_debian tags only what was built to its end.
image_from_debian() {
	local id
	local -a changes=(
		"ENV PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin LANG=C.UTF-8"
		"USER 65534:65534"
		"WORKDIR /workspace"
		'CMD ["bash"]'
		"LABEL dev.sandloop.recipe=$2"
	)
	# shellcheck disable=SC2086 # a list of words
	if ! id=$("$root/images/from-debian.sh" $3 2>"$state/image.log" |
		docker import "${changes[@]/#/--change=}" - 2>>"$state/image.log"); then
		[[ -z ${id:-} ]] || docker image rm "$id" >/dev/null
		return 1
	fi
	docker tag "$id" "$1"
}
