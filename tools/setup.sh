# SPDX-License-Identifier: MIT
# SPDX-FileCopyrightText: 2026 The sfjit authors
# shellcheck shell=sh
#
# What tools/demo and tools/check do before their work.  Sourced after apt.sh.

# A kernel costs eleven minutes of one CPU, its source and build 2.5 GiB.
cache_gib=6 build_gib=1 memory_gib=3 kernel_cpu_minutes=11

# setup MINUTES KERNEL...: MINUTES besides the kernels.
setup() {
	[ "$(dpkg --print-architecture 2>/dev/null)" = amd64 ] ||
		die "needs Debian 12 or newer on x86_64"
	mkdir -p "$cache" "$O"
	check_room "$cache" $cache_gib
	check_room "$O" $build_gib
	check_memory
	tell_time "$@"
}

# need_listed FILE...: the packages listed in these.
need_listed() {
	# shellcheck disable=SC2046
	need $(cat "$@" | grep -v '^#')
}

# Half of the room is enough once the cache is filled.
check_room() {
	_free=$(df -Pk "$1" | awk 'NR == 2 { print int($4 / 1048576) }')
	_wanted=$2
	[ ! -d "$cache/linux-apt-7.3" ] || _wanted=$((_wanted / 2))
	[ "$_free" -ge "$_wanted" ] ||
		die "$1 has $_free GiB free, $_wanted GiB are needed"
}

check_memory() {
	_free=$(awk '/^MemAvailable/ { print int($2 / 1048576) }' /proc/meminfo)
	[ "$_free" -ge $memory_gib ] ||
		die "$_free GiB of memory available, $memory_gib GiB are needed"
}

# The kernels which are not in the cache make nearly all of the time.
tell_time() {
	_minutes=$1
	shift
	for _kernel; do
		[ -n "$(find "$cache" -maxdepth 1 -name "kernel-$_kernel-*")" ] ||
			_minutes=$((_minutes + kernel_cpu_minutes / jobs + 2))
	done
	say "This takes about $_minutes minutes on this machine; logs are in" \
		"$logs."
}

# Relative, as a plain `make' has it: its dependency files name the objects.
build_all() {
	make -C "$top" O="${O#"$top/"}" -j"$jobs" "$@"
}
