# SPDX-License-Identifier: MIT
# SPDX-FileCopyrightText: 2026 The sfjit authors
# shellcheck shell=sh disable=SC2154
#
# Processes that sfjit attach is tried on; sourced after tests/lib/tap.sh.

mkfifo "$tmp/input"
exec 7<>"$tmp/input"

windows() { sed -n 's/^windows //p' "/proc/$1/sframe"; }

# Mappings but for the heap, which grows, and files; without what comes and goes
# in tests/sfjit/attach/target.c.
snapshot() {
	{
		grep -v '\[heap\]' "/proc/$1/maps"
		readlink "/proc/$1/fd/"*
	} | grep -v /dev/zero
}

# state: of the process, as in /proc/PID/stat
state() {
	awk '{ print $3 }' "/proc/$pid/stat"
}

# state_is STATE: once it is, or after ten minutes; prints what it is
state_is() {
	for _ in $(seq 6000); do
		[ "$(state)" != "$1" ] || break
		sleep 0.1
	done
	state
}

ticks() {
	awk '{ print $14 }' "/proc/$pid/stat"
}

# spins: until it has spun for some ticks more, or has ended
spins() {
	_until=$(($(ticks) + 5))
	while [ "$(ticks)" -lt $_until ] && [ "$(state)" != Z ]; do
		sleep 0.1
	done
}

# goes_on NAME FILE: with the line that it waits for, which it prints there
goes_on() {
	echo goes on >&7
	wait "$pid"
	is "$1: goes on" "0 goes on" "$? $(tail -n 1 "$2")"
}

# detached NAME: by sfjit detach, as it was in $tmp/before
detached() {
	"$sfjit" detach "$pid" >"$tmp/said" 2>&1
	snapshot "$pid" >"$tmp/after"
	same "$1: mappings and files" "$tmp/before" "$tmp/after"
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
}
