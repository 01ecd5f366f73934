# SPDX-License-Identifier: MIT
# SPDX-FileCopyrightText: 2026 The sfjit authors
# shellcheck shell=sh disable=SC2154
#
# Processes that sfjit attach is tried on; sourced behind tests/lib/case.sh.

mkfifo "$tmp/input"
exec 7<>"$tmp/input"

windows() { sed -n 's/^windows //p' "/proc/$1/sframe"; }

# Mappings but for the heap, which grows, and files; without what comes and goes
# in tests/unit/attach/target.c.
snapshot() {
	{
		grep -v '\[heap\]' "/proc/$1/maps"
		readlink "/proc/$1/fd/"*
	} | grep -v /dev/zero
}

# start FILE COMMAND...: until it has printed a line; its number is in $pid
start() {
	out=$1
	shift
	"$@" <"$tmp/input" >"$out" 2>&1 7>&- &
	pid=$!
	while ! [ -s "$out" ] && kill -0 "$pid"; do
		sleep 0.1
	done
	sleep 0.5
}
