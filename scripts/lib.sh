# shellcheck shell=bash
# scripts/lib.sh - what our scripts share.  Sourced by bash, after cd to the top.

say() {
	printf '\n== %s\n' "$*"
}

die() {
	printf '%s: %s\n' "${0##*/}" "$*" >&2
	exit 1
}

# Install what is missing of the named Debian packages; nothing when all are
# there, so that a second run needs no network.
need_packages() {
	local package missing=()

	for package in "$@"; do
		[ "$(dpkg-query -W -f '${db:Status-Status}' "$package" \
			2>/dev/null || true)" = installed ] ||
			missing+=("$package")
	done
	if [ ${#missing[@]} -eq 0 ]; then
		echo "all ${#} packages are there"
		return
	fi
	[ "$(id -u)" -eq 0 ] ||
		die "missing packages: ${missing[*]}; install them, or run as root"
	echo "installing ${missing[*]}"
	apt-get -q update
	DEBIAN_FRONTEND=noninteractive apt-get -q install -y \
		--no-install-recommends "${missing[@]}"
}

# What building and running take; scripts/test adds its own.
# shellcheck disable=SC2034
BUILD_PACKAGES="cmake ninja-build gcc libc6-dev linux-libc-dev pkg-config
	libjansson-dev libseccomp-dev libsodium-dev libvectorscan-dev libbpf-dev zlib1g-dev bpftool clang-14
	python3"

# The toolchains of executor/languages/, by their key "package".
# shellcheck disable=SC2034
LANGUAGE_PACKAGES="bash default-jdk-headless g++ gcc golang-go nodejs python3
	r-base-core ruby"

# build PRESET: configure, build what changed; what went wrong in full.
build() {
	local log=build/$1.log

	mkdir -p build
	if ! { cmake --preset "$1" "${CMAKE_ARGS[@]}" &&
		cmake --build --preset "$1" -j "$(nproc)"; } >"$log" 2>&1; then
		grep -v '^\[.*Building\|^\[.*Linking' "$log" >&2
		die "building $1 failed; all of it is in $log"
	fi
	tail -n 1 "$log"
}
