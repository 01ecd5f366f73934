# SPDX-License-Identifier: MIT
# SPDX-FileCopyrightText: 2026 The sfjit authors
# shellcheck shell=sh disable=SC2154
#
# What tools/demo and tools/check do before their work.  Sourced after apt.sh.
# $plan is a file of what is to be done: lines as tools/plan.awk reads them.

# What is installed is to be used: a python3 of one's own may lack modules of
# Debian's packages, or be a script that looks for the right one each time.
PATH=/usr/bin:/bin:$PATH

# Two tests at once on two CPUs, as a guest has two.
slots=$((jobs / 2))
[ "$slots" -ge 2 ] || slots=2

# planned WHAT: see tools/plan.awk.
planned() {
	awk -v needs="$top/tools/needs" -v show="$1" -v results="${results:-}" \
		-f "$top/tools/plan.awk" "$top/tools/needs" "$plan"
}

# open_costs: of what the cache does not have.
open_costs() {
	while read -r _seconds _word _mib; do
		[ "$_word" != - ] && [ -n "$(find "$cache" -maxdepth 1 \
			-name "$_word-*" ! -name '*.tmp')" ] ||
			echo "$_seconds $_mib"
	done <"$plan.planned"
}

setup() {
	[ "$(dpkg --print-architecture 2>/dev/null)" = amd64 ] ||
		die "needs Debian 12 or newer on x86_64"
	mkdir -p "$cache" "$O"
	# A plan that fails must be a command of its own to end this.
	planned packages >"$plan.packages"
	planned costs >"$plan.planned"
	open_costs >"$plan.costs"
	check_room "$cache" "$(total 2 1024)"
	check_room "$O" 1
	check_memory "$(planned memory)"
	say "This takes about $(total 1 $((60 * slots))) minutes on this" \
		"machine; logs are in $logs."
	# shellcheck disable=SC2046
	need $(cat "$plan.packages")
	! grep -q ' rootfs ' "$plan.planned" || "$top/tools/rootfs" --password
	for _arch in arm64 s390x; do
		! grep -q " rootfs_$_arch " "$plan.planned" ||
			"$top/tools/rootfs" --arch=$_arch --password
	done
}

# total COLUMN UNIT: of the open costs, rounded up.
total() {
	awk -v column="$1" -v unit="$2" '{ sum += $column }
		END { print int((sum + unit - 1) / unit) }' "$plan.costs"
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

# carry_out: makes and runs what is planned.  Steps run side by
# side, so none may rewrite its line of the terminal.
carry_out() {
	planned makefile >"$plan.mk"
	in_group 0 env SFJIT_SIDE_BY_SIDE=1 make -C "$top" -s -k \
		--no-print-directory -j"$slots" -f "$plan.mk"
}
