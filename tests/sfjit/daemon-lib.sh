# SPDX-License-Identifier: MIT
# SPDX-FileCopyrightText: 2026 The sfjit authors
# shellcheck shell=sh disable=SC2034,SC2154
#
# For the tests of sfjit daemon in guests; source it after tests/lib/tap.sh.

# shellcheck source=tests/preload/lib.sh
. "$top/tests/preload/lib.sh"
# shellcheck source=tests/preload/summary.sh
. "$top/tests/preload/summary.sh"
data=$tmp/perf.data
log=$tmp/daemon
daemon=
frequency=500
# All users can reach it.
work=/work
mkdir -p "$work"

# unprivileged COMMAND...: as a user who owns no file
unprivileged() { setpriv --reuid=65534 --regid=65534 --clear-groups "$@"; }

# start_daemon [OPTION...]: with a log of its own
start_daemon() {
	"$sfjit" daemon -v "$@" 2>"$log" &
	daemon=$!
}

stop_daemon() {
	kill "$daemon"
	wait "$daemon"
}

# said TEXT: how many lines of the daemon begin so
said() { grep -cF "sfjit daemon: $1" "$log"; }

# alive: ends the test if the daemon has ended.
alive() {
	kill -0 "$daemon" && return
	not_ok "the daemon runs" "$(cat "$log")"
	finish
}

# until_said TIMES TEXT COMMAND...: runs it until so many lines begin so.
until_said() {
	_times=$1 _text=$2
	shift 2
	until [ "$(said "$_text")" -ge "$_times" ]; do
		alive
		"$@" >"$tmp/out" 2>&1
	done
}

# await TIMES FILE COMMAND...: runs it until the daemon has given a file of this path
# a table so often.
await() {
	_times=$1 _file=$2
	shift 2
	until_said "$_times" "$_file: 1 table, " "$@"
}

# tables: the kernel's lines about them; tables_of FILE: of these
tables() { cat "/proc/$daemon"/fdinfo/* 2>/dev/null | grep "^table "; }
tables_of() {
	tables | awk -v file="$(stat -Lc '%Hd %Ld %i' "$1")" '
		BEGIN { split(file, is); key = sprintf("%02x:%02x %d", is[1], is[2], is[3]) }
		$3 " " $4 == key'
}

# record COMMAND...: all processes, while the command runs
record() {
	perf record -a -e cpu-clock -F $frequency --call-graph=fp -o "$data" -- "$@" \
		>"$tmp/out" 2>"$tmp/err"
	perf script --no-inline -i "$data" -F comm,pid,ip,sym \
		>"$samples" 2>>"$tmp/err"
}

# count_stacks COMM: those of sort_once(), and how many end in main() and what has
# called it
count_stacks() {
	summary "$1" sort_once "work main" >"$tmp/sum" 2>"$tmp/bad"
	awk '{ n += $3; c += $5; x += $7 }
		END { print n + 0, c + 0, x + 0 }' "$tmp/sum" >"$tmp/total"
	read -r stacks complete exact <"$tmp/total"
}

record_times() { record "$@" "$seconds"; }
are_enough() {
	count_stacks "$comm"
	[ "$stacks" -gt 20 ]
}

# record_enough COMM N COMMAND...: records COMMAND N, or with ten and a hundred times
# N, until judge has enough stacks.
record_enough() {
	comm=$1 _nr=$2
	shift 2
	until_enough "$_nr ${_nr}0 ${_nr}00" are_enough record_times "$@"
}

# judge NAME COMM: of at least 20 stacks all are exact.
judge() {
	count_stacks "$2"
	if [ "$stacks" -gt 20 ] && [ "$complete" = "$stacks" ] &&
		[ "$exact" = "$stacks" ]; then
		ok "$1: all stacks"
	else
		not_ok "$1: all stacks" "$stacks, $complete complete, $exact exact:
$(head -n 30 "$tmp/bad")
$(tail -n 20 "$log")
$("$sfjit" ps --files)"
	fi
}

# until_runs TIMES NAME: until so many processes have this name; ends the test if the
# command started last has ended.
until_runs() {
	until [ "$(pgrep -c -x "$2")" = "$1" ]; do
		kill -0 $! && continue
		not_ok "$2 runs"
		finish
	done
}

# hold COMMAND...: starts it and waits for its first line. Its standard input stays
# open until release.
hold() {
	rm -f "$tmp/hold"
	mkfifo "$tmp/hold"
	: >"$tmp/held"
	"$@" <"$tmp/hold" >"$tmp/held" &
	held=$!
	exec 3>"$tmp/hold"
	until [ -s "$tmp/held" ]; do kill -0 $held || exit 1; done
}

release() {
	exec 3>&-
	wait $held
}

# run_all NAME COMMAND...: until the four processes of prefork run, as NAME
run_all() {
	_name=$1
	shift
	"$@" &
	until_runs 4 "$_name"
}
