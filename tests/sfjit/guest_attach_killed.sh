#!/bin/sh
# SPDX-License-Identifier: MIT
# SPDX-FileCopyrightText: 2026 The sfjit authors
#
# In the guest: sfjit attach is killed before one of its calls of ptrace(), and
# the process ends up as the manual page says.

# shellcheck source=tests/lib/tap.sh
. "$(dirname "$0")/../lib/tap.sh"
# shellcheck source=tests/preload/lib.sh
. "$top/tests/preload/lib.sh"
# shellcheck source=tests/sfjit/attached.sh
. "$top/tests/sfjit/attached.sh"

# begin [COMMAND...]: by default a program that continues with a line of input
begin() {
	# shellcheck disable=SC2016 # for the other shell
	[ $# != 0 ] || set -- sh -c 'echo ready; read -r line; echo "$line"'
	start "$tmp/target" "$@"
	state_is S >"$tmp/state"
	snapshot "$pid" >"$tmp/before"
}

# named FILE: prints a snapshot without possible leftovers
named() {
	awk 'NF != 5 && !/memfd:sfjit-attach/' "$1"
}

# ended: whether it exits before it waits for its line again
ended() {
	for _ in $(seq 6000); do
		case $(awk '/^State:/ { print $2 }' "/proc/$pid/status" 2>&1) in
		S) return 1 ;;
		Z | *[!A-Za-z]* | '') return 0 ;;
		esac
		sleep 0.1
	done
	return 1
}

# detach NAME: nothing is left
detach() {
	said=$("$sfjit" detach "$pid" 2>&1)
	case "$? $said" in
	"0 $pid: removed "* | "1 sfjit: $pid: nothing is attached")
		ok "$1: sfjit detach" ;;
	*) not_ok "$1: sfjit detach" "$said" ;;
	esac
	is "$1: no window" 0 "$(windows "$pid")"
	named "$tmp/before" >"$tmp/want"
	snapshot "$pid" >"$tmp/after"
	named "$tmp/after" >"$tmp/named"
	same "$1: mappings and files" "$tmp/want" "$tmp/named"
}

# kill_at N: prevents the N-th call
kill_at() {
	LD_PRELOAD=$run/ptraces.so KILL_AT=$1 \
		"$sfjit" attach "$pid" >"$tmp/said" 2>&1
	is "call $1: sfjit attach is killed" 137 $?
}

# Between the first and the last PTRACE_SETREGSET registers are changed.
begin
PTRACES=$tmp/calls LD_PRELOAD=$run/ptraces.so "$sfjit" attach "$pid" \
	>"$tmp/said" 2>&1
is "not killed: attached" 0 $?
all=$(wc -l <"$tmp/calls")
first=$(grep -n -x 4205 "$tmp/calls" | head -n 1 | cut -d : -f 1)
last=$(grep -n -x 4205 "$tmp/calls" | tail -n 1 | cut -d : -f 1)
is "not killed: calls, with registers of the process at both ends" yes \
	"$([ "$first" -gt 1 ] && [ "$last" -gt $((first + 40)) ] &&
		[ "$all" -gt "$last" ] && echo yes || echo "$first $last $all")"
goes_on "not killed" "$tmp/target"

for n in $(seq "$first"); do
	begin
	kill_at "$n"
	snapshot "$pid" >"$tmp/after"
	same "call $n: mappings and files" "$tmp/before" "$tmp/after"
	is "call $n: no window" 0 "$(windows "$pid")"
	goes_on "call $n" "$tmp/target"
done

# Registers of a call, which takes four of ptrace(): each of these occurs.
for n in $(seq $((first + 1)) 5 "$last"); do
	begin
	kill_at "$n"
	if ended; then
		wait "$pid"
		like "call $n: ended by a signal" "1[2-9][0-9]" $?
	else
		detach "call $n"
		kill -9 "$pid"
	fi
done

# The same with a program that no signal ends.
removed=0
for n in $(seq $((first + 1)) 5 "$last"); do
	begin "$O/tests/sfjit/programs/attach-odd" survives
	kill_at "$n"
	detach "call $n, survived"
	case $said in
	*": removed "[1-9]*) removed=$((removed + 1)) ;;
	esac
	is "call $n, survived: goes on" S "$(state_is S)"
	kill "$pid"
done
is "survived: more than once with windows that sfjit detach removed" yes \
	"$([ $removed -gt 1 ] && echo yes)"

for n in $(seq $((last + 1)) "$all"); do
	begin
	kill_at "$n"
	is "call $n: has windows" yes \
		"$([ "$(windows "$pid")" -ge 4 ] && echo yes)"
	detach "call $n"
	same "call $n: nothing is left" "$tmp/before" "$tmp/after"
	goes_on "call $n" "$tmp/target"
done
finish
