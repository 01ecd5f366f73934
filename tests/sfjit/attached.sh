# SPDX-License-Identifier: MIT
# SPDX-FileCopyrightText: 2026 The sfjit authors
# shellcheck shell=sh disable=SC2154
#
# Processes to attach to; source it after tests/lib/tap.sh.

mkfifo "$tmp/input"
exec 7<>"$tmp/input"

windows() { sed -n 's/^windows \([0-9]*\) .*/\1/p' "/proc/$1/sframe"; }

# Prints mappings, except the heap, which grows, and files; without those that
# come and go in tests/sfjit/attach/target.c.
snapshot() {
	{
		grep -v '\[heap\]' "/proc/$1/maps"
		readlink "/proc/$1/fd/"*
	} | grep -v /dev/zero
}

# state: prints the state of the process in /proc/PID/stat
state() {
	awk '{ print $3 }' "/proc/$pid/stat"
}

# state_is STATE: waits for it, at most ten minutes; prints the last state
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

# spins: waits until it has used some more ticks, or has exited
spins() {
	_until=$(($(ticks) + 5))
	while [ "$(ticks)" -lt $_until ] && [ "$(state)" != Z ]; do
		sleep 0.1
	done
}

# goes_on NAME FILE: continues with a line of input, which it prints there
goes_on() {
	echo goes on >&7
	wait "$pid"
	is "$1: goes on" "0 goes on" "$? $(tail -n 1 "$2")"
}

# detached NAME: after sfjit detach it is as in $tmp/before
detached() {
	"$sfjit" detach "$pid" >"$tmp/said" 2>&1
	snapshot "$pid" >"$tmp/after"
	same "$1: mappings and files" "$tmp/before" "$tmp/after"
}

# start FILE COMMAND...: waits until it has printed a line; sets $pid
start() {
	out=$1
	shift
	"$@" <"$tmp/input" >"$out" 2>&1 7>&- &
	pid=$!
	while ! [ -s "$out" ] && kill -0 "$pid"; do
		sleep 0.1
	done
}
