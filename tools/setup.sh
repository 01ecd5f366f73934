# SPDX-License-Identifier: MIT
# SPDX-FileCopyrightText: 2026 The sfjit authors
# shellcheck shell=sh disable=SC2154
#
# Preparation of tools/demo, tools/check and tools/jits: `plan' estimates the time
# and checks the room, `prepare' makes the needs of tools/needs.mk.  Sourced after
# apt.sh.

# What is installed is to be used: a python3 of one's own may lack modules of
# Debian's packages, or be a script that looks for the right one each time.
PATH=/usr/bin:/bin:$PATH

# Two tests at once on two CPUs, as a guest has two.
slots=$((jobs / 2))
[ "$slots" -ge 2 ] || slots=2

# make_needs ARGUMENT...
make_needs() {
	make -C "$top" -s -r --no-print-directory -f tools/needs.mk "$@"
}

# plan SECONDS NEED...: checks room and memory, says how long it takes with
# SECONDS of work after the needs are made, and installs packages.
plan() {
	_seconds=$1
	shift
	[ "$(dpkg --print-architecture 2>/dev/null)" = amd64 ] ||
		die "needs Debian 12 or newer on x86_64"
	mkdir -p "$cache" "$O"
	# A need that does not exist must end this.
	_plan=$(make_needs PLAN=y "$@")
	_costs=$(echo "$_plan" | open_costs)
	check_room "$cache" "$(echo "$_costs" | total 2 1024)"
	check_room "$O" 1
	check_memory "$(echo "$_plan" | most_memory)"
	say "This takes about $({ echo "$_costs"; echo "$_seconds 0"; } |
		total 1 $((60 * slots))) minutes on this machine;" \
		"logs are in $logs."
	# shellcheck disable=SC2046
	need $(echo "$_plan" | packages_of)
	ask_password "$(echo "$_plan" | cut -d '|' -f 1)"
}

# "SECONDS MIB" of what the cache does not have.
open_costs() {
	while IFS='|' read -r _ _cost _ _ _entry; do
		[ -n "$(find "$cache" -maxdepth 1 -name "$_entry-*" \
			! -name '*.tmp')" ] || echo "${_cost:-0 0}"
	done
}

packages_of() {
	cut -d '|' -f 4 | tr ' ' '\n' | sort -u
}

most_memory() {
	awk -F '|' '$3 > most { most = $3 } END { print most + !most }'
}

# total COLUMN UNIT: of costs, rounded up.
total() {
	awk -v column="$1" -v unit="$2" '{ sum += $column }
		END { print int((sum + unit - 1) / unit) }'
}

# ask_password NEEDS: sudo may ask now, while somebody looks.
ask_password() {
	for _need in $1; do
		case $_need in
		rootfs) "$top/tools/rootfs" --password ;;
		rootfs_arm64 | rootfs_s390x)
			"$top/tools/rootfs" --arch="${_need#*_}" --password ;;
		esac
	done
}

check_room() {
	_free=$(df -Pk "$1" | awk 'NR == 2 { print int($4 / 1048576) }')
	[ "$_free" -ge "$2" ] ||
		die "$1 has $_free GiB free, $2 GiB are needed"
}

check_memory() {
	_free=$(awk '/^MemAvailable/ { print int($2 / 1048576) }' /proc/meminfo)
	[ "$_free" -ge "$1" ] ||
		die "$_free GiB of memory available, $1 GiB are needed"
}

# prepare NEED...: makes them side by side, so none may rewrite its line of
# the terminal.  Status 1 if one could not be made; DONE=DIRECTORY before
# the needs: see tools/needs.mk.
prepare() {
	in_group 0 env SFJIT_SIDE_BY_SIDE=1 make -C "$top" -s -k -r \
		--no-print-directory -j"$slots" -f tools/needs.mk "$@"
}
