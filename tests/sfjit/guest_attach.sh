#!/bin/sh
# SPDX-License-Identifier: MIT
# SPDX-FileCopyrightText: 2026 The sfjit authors
#
# In the guest: sfjit attach to running processes, and sfjit detach. Their
# stacks are those of sfjit run, and nothing of sfjit stays.

# shellcheck source=tests/lib/tap.sh
. "$(dirname "$0")/../lib/tap.sh"
# shellcheck source=tests/preload/lib.sh
. "$top/tests/preload/lib.sh"
# shellcheck source=tests/preload/summary.sh
. "$top/tests/preload/summary.sh"
# shellcheck source=tests/sfjit/attached.sh
. "$top/tests/sfjit/attached.sh"
data=$tmp/perf.data

# record LEAST FUNCTION PID...: records until each has so many stacks with
# FUNCTION; other programs may use all CPU time
record() {
	least=$1 called=$2
	shift 2
	recorded=$*
	until_enough "3 10 30 100 300" have_stacks record_once
}

record_once() {
	perf record -e cpu-clock -F 500 --call-graph=fp -o "$data" \
		-p "$(echo "$recorded" | tr ' ' ,)" -- sleep "$seconds" \
		>"$tmp/err" 2>&1 &&
		perf script --no-inline -i "$data" -F comm,pid,ip,sym \
			>"$samples" 2>>"$tmp/err"
}

have_stacks() {
	for pid_of in $recorded; do
		[ "$(stacks_of "$pid_of" "$called")" -gt "$least" ] || return
	done
}

# workers: sets $pids when $parent has three children
workers() {
	pids=
	until [ "$(echo "$pids" | wc -w)" = 4 ]; do
		sleep 0.1
		pids="$parent $(awk -v parent="$parent" '$4 == parent {
			print $1 }' /proc/[0-9]*/stat 2>/dev/null | xargs)"
	done
}

# stacks_of PID FUNCTION
stacks_of() {
	python3 -B "$top/tests/lib/perfscript.py" comm,pid,ip,sym <"$samples" |
		awk -v pid="$1" -v name="$2" '
			$2 == pid && index($0, " " name) { n++ }
			END { print n + 0 }'
}

# ---- Nothing is attached ---------------------------------------------------------

start "$tmp/said" sh -c 'echo ready; read -r line'
message=$("$sfjit" detach "$pid" 2>&1)
is "detach, and nothing is attached" \
	"1 sfjit: $pid: nothing is attached" "$? $message"
kill "$pid"

# ---- Stacks: a server with its workers -----------------------------------------

"$run/prefork" 1000000000 &
parent=$!
workers
# shellcheck disable=SC2086 # words
record 20 compare $pids || not_ok "prefork: perf" "$(cat "$tmp/err")"
summary prefork compare "" >"$tmp/sum" 2>"$tmp/bad"
is "prefork, not attached: nothing is complete" 0 \
	"$(awk '{ n += $5 } END { print n + 0 }' "$tmp/sum")"
for pid in $pids; do
	"$sfjit" attach "$pid" >>"$tmp/said" 2>&1
done
# shellcheck disable=SC2086 # words
record 20 sort_once $pids || not_ok "prefork, attached: perf" "$(cat "$tmp/err")"
summary prefork sort_once "work main" >"$tmp/sum" 2>"$tmp/bad"
prefork_stacks "prefork, attached"
# shellcheck disable=SC2086 # words
kill $pids

# ---- Stacks: a static program ---------------------------------------------------

# No header names its call frame information.
"$run/prefork-static" 1000000000 &
parent=$!
workers
for pid in $pids; do
	"$sfjit" attach "$pid" >>"$tmp/said" 2>&1
done
# shellcheck disable=SC2086 # words
record 20 sort_once $pids || not_ok "static, attached: perf" "$(cat "$tmp/err")"
summary prefork-static sort_once "work main" >"$tmp/sum" 2>"$tmp/bad"
prefork_stacks "static, attached"
# shellcheck disable=SC2086 # words
kill $pids

# sfjit run attaches to the first process, before it forks or later. Empty what was
# said before: the shell may look before the background opens the file.
: >"$tmp/said"
"$sfjit" run -o "$tmp/log" -- "$run/prefork-static" 1000000000 2>"$tmp/said" &
pid=$!
like "static, run: message" "*is statically linked; sfjit attaches to it" \
	"$(until [ -s "$tmp/said" ]; do sleep 0.1; done; cat "$tmp/said")"
until [ "$(windows "$pid")" -gt 1 ] || ! kill -0 $pid || [ -s "$tmp/log" ]; do
	sleep 0.1
done
is "static, run: no message of attach" "" "$(cat "$tmp/log" 2>/dev/null)"
record 20 sort_once "$pid" || not_ok "static, run: perf" "$(cat "$tmp/err")"
summary prefork-static sort_once "work main" >"$tmp/sum" 2>"$tmp/bad"
read -r _ _ stacks _ complete _ exact <"$tmp/sum"
is "static, run: all of its stacks are exact and complete" \
	"$stacks $stacks" "$complete $exact"
kill "$pid" $(awk -v parent="$pid" '$4 == parent { print $1 }' \
	/proc/[0-9]*/stat 2>/dev/null)

"$run/bare" &
pid=$!
until [ "$(state)" = S ]; do
	sleep 0.1
done
"$sfjit" attach "$pid" >"$tmp/said" 2>"$tmp/err"
is "without call frame information: status" 1 $?
is "without call frame information: message" "sfjit: $pid: $run/bare has no \
windows: neither .eh_frame_hdr nor .eh_frame nor Go's table. Its code needs frame pointers" \
	"$(cat "$tmp/err")"
kill "$pid"

# ---- Stacks: Python, which has windows of its own ------------------------------

file=$top/tests/preload/programs/chain.py
export PYTHONPATH="$top/build/lib/python"
start "$tmp/python" python3 -m sfjit "$file" 1000000
before=$(windows "$pid")
snapshot "$pid" >"$tmp/before"
message=$("$sfjit" attach "$pid" 2>&1)
like "python: attached" "$pid: [1-9]* windows, *" "$message"
record 50 "py::leaf:$file" "$pid" ||
	not_ok "python, attached: perf" "$(cat "$tmp/err")"
summary python3 "py::leaf:$file" \
	"py::Worker.step:$file py::outer:$file py::<module>:$file" \
	'only=^py::|^_start$' >"$tmp/sum" 2>"$tmp/bad"
read -r _ _ stacks _ complete _ exact <"$tmp/sum"
if [ "${stacks:-0}" -gt 50 ] && [ "$exact" = "$stacks" ] &&
	[ "$complete" = "$stacks" ]; then
	ok "python, attached: all Python functions of $stacks stacks, to _start"
else
	not_ok "python, attached: all Python functions of stacks" \
		"$exact exact and $complete complete of $stacks:
$(head -n 30 "$tmp/bad")"
fi
message=$("$sfjit" detach "$pid" 2>&1)
like "python: detached" "$pid: removed [1-9]* windows, *" "$message"
is "python: its own windows are there" "$before" "$(windows "$pid")"
snapshot "$pid" >"$tmp/after"
same "python: mappings and files" "$tmp/before" "$tmp/after"
kill "$pid"

# ---- Stacks: a library that is loaded later ------------------------------------

# later_stacks NAME EXACT: all of its stacks are exact, or none
later_stacks() {
	record 50 leaf "$pid" || not_ok "$1: perf" "$(cat "$tmp/err")"
	summary later leaf "plugin_behind work main" >"$tmp/sum" 2>"$tmp/bad"
	read -r _ _ stacks _ complete _ exact <"$tmp/sum"
	[ "$2" = 0 ] || set -- "$1" "$stacks"
	if [ "${stacks:-0}" -gt 50 ] && [ "$exact $complete" = "$2 $2" ]; then
		ok "$1: $2 of the stacks are exact and complete"
	else
		not_ok "$1: $2 of $stacks stacks" \
			"$exact exact and $complete complete:
$(head -n 30 "$tmp/bad")"
	fi
}

# lines FILE NR: waits until a program has printed so many
lines() {
	while [ "$(wc -l <"$1")" -lt "$2" ] && kill -0 "$pid"; do
		sleep 0.1
	done
}

start "$tmp/later" "$run/later" "$run/plugin-gap.so"
"$sfjit" attach "$pid" >"$tmp/said" 2>&1
before=$(windows "$pid")
echo >&7
lines "$tmp/later" 2
is "loaded later: no window comes by itself" "$before" "$(windows "$pid")"
later_stacks "loaded later" 0
message=$("$sfjit" attach "$pid" 2>&1)
like "loaded later: attached again" "$pid: $((before + 2)) windows, *" \
	"$message"
is "loaded later: windows of both of its parts" $((before + 2)) \
	"$(windows "$pid")"
later_stacks "loaded later, attached again" all
kill "$pid"

# locked NAME: stacks of the child of the program
locked() {
	name=$1 parent=$pid
	pid=$(tail -n 1 "$tmp/later")
	later_stacks "$name" all
	kill "$parent" "$pid"
}

start "$tmp/later" "$run/later" "$run/plugin-gap.so" locked
echo >&7
lines "$tmp/later" 2
message=$("$sfjit" attach "$pid" 2>&1)
like "locked memory: attached" "$pid: [1-9]* windows, *" "$message"
echo >&7
lines "$tmp/later" 3
locked "locked memory: a forked child"

start "$tmp/later" "$sfjit" run -- "$run/later" "$run/plugin-gap.so" locked
echo >&7
lines "$tmp/later" 2
echo >&7
lines "$tmp/later" 3
locked "locked memory, sfjit run: a forked child"

start "$tmp/later" "$run/later" "$run/plugin-gaps.so"
echo >&7
lines "$tmp/later" 2
message=$("$sfjit" attach -v "$pid" 2>&1)
like "a library with a hundred gaps" "*/plugin-gaps.so: 101 windows,*" "$message"
is "a library with a hundred gaps: all are in the kernel" \
	"$pid: $(windows "$pid") windows" \
	"$(echo "$message" | tail -n 1 | cut -d , -f 1)"
kill "$pid"

# ---- .debug_frame ----------------------------------------------------------------

# attaches NAME PATTERN COMMAND...: says this of a library that has only that
attaches() {
	name=$1 want=$2
	shift 2
	message=$("$@" attach -v "$pid" 2>&1)
	like ".debug_frame: $name" "*/plugin-debug.so$want" "$message"
}

# loads FILE: a process of another user that has loaded it; sets $pid
loads() {
	rm -f "$tmp/loads"
	# shellcheck disable=SC2086 # words
	start "$tmp/loads" $as_user python3 -c 'import ctypes, sys
ctypes.CDLL(sys.argv[1])
print("loaded", flush=True)
sys.stdin.readline()' "$1"
}

as_user="setpriv --reuid=65534 --regid=65534 --clear-groups"
chmod 755 "$tmp"
mkdir -m 755 "$tmp/plugins"
cp "$run/plugin-debug.so" "$tmp/plugins"
loads "$tmp/plugins/plugin-debug.so"
attaches "root" ": 1 windows,*" "$sfjit"
"$sfjit" detach "$pid" >"$tmp/said" 2>&1
# shellcheck disable=SC2086 # words
attaches "another user" ": 1 windows,*" $as_user "$sfjit"
kill "$pid"
loads "$tmp/plugins/plugin-debug.so"
cp "$run/plugin-debug.so" "$tmp/plugins/other"
mv "$tmp/plugins/other" "$tmp/plugins/plugin-debug.so"
# shellcheck disable=SC2086 # words
attaches "another user, and the name is that of another file" \
	" (deleted): none: neither .eh_frame_hdr nor *" $as_user "$sfjit"
attaches "root, and the name is that of another file" " (deleted): 1 windows,*" "$sfjit"
kill "$pid"

# ---- Others --------------------------------------------------------------------

start "$tmp/run" "$sfjit" run -- sh -c 'echo ready; read -r line'
before=$(windows "$pid")
message=$("$sfjit" attach "$pid" 2>&1)
like "sfjit run: windows are there" \
	"$pid: 0 windows, 0 bytes of tables, *; $before windows existed before" \
	"$message"
is "sfjit run: they are all" "$before" "$(windows "$pid")"
kill "$pid"

# PR_SFRAME_REGISTER ends the process.
start "$tmp/filter" "$run/filter" 1397115441 0 \
	sh -c 'echo ready; read -r line'
message=$("$sfjit" attach "$pid" 2>&1)
case $message in
*CONFIG_CHECKPOINT_RESTORE)
	ok "a seccomp filter that kills: this kernel passes none" ;;
*)
	like "a seccomp filter that kills: root attaches" \
		"$pid: [1-9]* windows, *" "$message" ;;
esac
"$sfjit" detach "$pid" >"$tmp/said" 2>&1
is "a seccomp filter that kills: the process lives" 0 "$(windows "$pid")"
kill "$pid"

# No room for all of its windows.
start "$tmp/room" sh -c 'echo ready; read -r line'
limit=$(cat /proc/sys/vm/max_sframe_windows)
snapshot "$pid" >"$tmp/before"
echo 2 >/proc/sys/vm/max_sframe_windows
message=$("$sfjit" attach "$pid" 2>&1)
is "no room for all windows" \
	"1 sfjit: $pid: vm.max_sframe_windows: No space left on device" \
	"$? $message"
echo "$limit" >/proc/sys/vm/max_sframe_windows
is "no room for all windows: there are none" 0 "$(windows "$pid")"
snapshot "$pid" >"$tmp/after"
same "no room for all windows: mappings and files" "$tmp/before" "$tmp/after"
kill "$pid"

# The same with sfjit run, in the log and in sfjit ps.
echo 20 >/proc/sys/vm/max_sframe_windows
start "$tmp/later" "$sfjit" run -o "$tmp/room-log" -- \
	"$run/later" "$run/plugin-gaps.so"
echo >&7
lines "$tmp/later" 2
echo "$limit" >/proc/sys/vm/max_sframe_windows
is "no room, sfjit run: the first windows are there" 20 "$(windows "$pid")"
is "no room, sfjit run: the log has the others" \
	"$((101 - 20 + $(grep -c 'registered .* windows=1 ' "$tmp/room-log"))) 28" \
	"$(sed -n 's/.*plugin-gaps.* refused=\([0-9]*\) error=\(.*\)/\1 \2/p' \
		"$tmp/room-log")"
says="vm.max_sframe_windows permits no more windows"
is "with room: sfjit ps says nothing of it" 0 \
	"$("$sfjit" ps "$pid" | grep -c "^$says")"
echo 20 >/proc/sys/vm/max_sframe_windows
is "no room, sfjit run: sfjit ps says so" 1 \
	"$("$sfjit" ps "$pid" | grep -c "^$says")"
echo "$limit" >/proc/sys/vm/max_sframe_windows
kill "$pid"

# A frozen process can be stopped, but makes no call.
start "$tmp/frozen" sh -c 'echo ready; read -r line; echo "$line"'
group=/sys/fs/cgroup/frozen
mkdir "$group"
snapshot "$pid" >"$tmp/before"
echo "$pid" >"$group/cgroup.procs"
echo 1 >"$group/cgroup.freeze"
until grep -qx 'frozen 1' "$group/cgroup.events"; do
	sleep 0.1
done
message=$("$sfjit" attach "$pid" 2>&1)
is "a frozen process" "1 sfjit: $pid: did not run for a second. If it \
is frozen, thaw it and run sfjit detach" "$? $message"
echo 0 >"$group/cgroup.freeze"
message=$("$sfjit" attach "$pid" 2>&1)
like "a frozen process: when it runs again" "$pid: [1-9]* windows, *" "$message"
detached "a frozen process"
goes_on "a frozen process" "$tmp/frozen"
rmdir "$group"
finish
