#!/bin/sh
# SPDX-License-Identifier: MIT
# SPDX-FileCopyrightText: 2026 The sfjit authors
#
# In the guest: sfjit run --reasons saves the kernel's counts of each process,
# however it ends, and sfjit explain --reasons prints them.

# shellcheck source=tests/lib/tap.sh
. "$(dirname "$0")/../lib/tap.sh"
# shellcheck source=tests/preload/lib.sh
. "$top/tests/preload/lib.sh"
reasons=$tmp/reasons

# recorded COMMAND...: runs under sfjit run; sets $status
recorded() {
	perf record -q -e cpu-clock -F 500 --call-graph=fp -o "$tmp/data" -- \
		"$sfjit" run -r "$reasons" -- "$@" >"$tmp/said" 2>"$tmp/err"
	status=$?
}

# saved PID: prints the saved counts of the process
saved() {
	awk -v pid="$1" '$1 == "process" { on = $2 == pid } on' "$reasons"
}

recorded "$run/refused" exit _exit kill thread
is "status" 0 $status
is "each has said how many walks were refused" 4 \
	"$(grep -c ' [1-9][0-9]*$' "$tmp/said")"
while read -r pid how count; do
	saved "$pid" >"$tmp/saved"
	is "$how: its name" "process $pid refused" "$(head -n 1 "$tmp/saved")"
	found=$(sed -n 's/^no_fde //p' "$tmp/saved")
	# exit() calls functions that have no call frame information, too.
	if [ "$how" = exit ] && [ "${found:-0}" -ge "$count" ]; then
		more=$((found - count))
		count=$found
	fi
	is "$how: walks that were refused" "$count" "$found"
	like "$how: where the last one was" "last [a-z]* *" \
		"$(grep ^last "$tmp/saved")"
done <"$tmp/said"
sum=$(awk -v more="${more:-0}" '{ n += $3 } END { print n + more }' "$tmp/said")
"$sfjit" explain -r "$reasons" "$tmp/data" >"$tmp/text"
is "sfjit explain: status" 0 $?
like "sfjit explain: processes" "why the kernel ended walks of [45] processes" \
	"$(grep '^why the kernel' "$tmp/text")"
like "sfjit explain: their sum, and what it means" \
	"* $sum  no_fde *  the table has a gap there" \
	" $(grep ' no_fde ' "$tmp/text")"
"$sfjit" explain -j -r "$reasons" "$tmp/data" >"$tmp/json"
is "sfjit explain --json" "$sum" "$(python3 -c 'import json, sys
print(sum(r["walks"] for r in json.load(sys.stdin)["kernel"]["reasons"]
          if r["reason"] == "no_fde"))' <"$tmp/json")"

recorded sh -c "$run/refused _exit; kill -TERM \$\$"
is "who is killed: status" 143 $status
read -r pid how count <"$tmp/said"
is "a child of who is killed" "no_fde $count" "$(saved "$pid" | grep ^no_fde)"

# Stopped and continued, as by a shell.
"$sfjit" run -r "$reasons" -- sleep 60000 &
pid=$!
until [ "$(cat /proc/$pid/comm)" = sleep ] &&
	grep -q '^State:.*S ' /proc/$pid/status; do
	sleep 0.1
done
tracer=$(awk '/^TracerPid:/ { print $2 }' /proc/$pid/status)
# Number of times that the tracer has begun to wait.
waits() { awk '/^voluntary_ctxt_switches:/ { print $2 }' /proc/"$tracer"/status; }
before=$(waits)
kill -STOP $pid
# The tracer has seen it, and is waiting again.
until [ "$(waits)" -gt "$before" ] &&
	grep -q '^State:.*S ' /proc/"$tracer"/status; do
	sleep 0.1
done
like "stopped: stays so" "*[Tt] (*" "$(grep ^State: /proc/$pid/status)"
kill -CONT $pid
until grep -q '^State:.*S ' /proc/$pid/status; do sleep 0.1; done
message=$("$sfjit" attach $pid 2>&1)
like "traced: sfjit attach says so" "sfjit: $pid: is already traced by process *" "$message"
kill $pid
wait $pid
is "killed: status" 143 $?
is "killed: written, too" "process $pid sleep" "$(saved $pid)"

message=$("$sfjit" run -r /dev/full -- "$run/hello" 2>&1 >/dev/null)
is "no space: status" 0 $?
is "no space: message" "sfjit: /dev/full: cannot write why walks ended: No \
space left on device; it lacks processes: use another file, and run the command again" \
	"$message"
"$sfjit" run -r /dev/full -- "$run/hello" 2>"$tmp/err" >/dev/null
is "the same in a file" "$message" "$(cat "$tmp/err")"
(ulimit -f 0 && trap '' XFSZ && exec "$sfjit" run -r "$tmp/none" -- \
	"$run/hello" 2>&1 >/dev/null) | grep -q "File too large"
is "the limit of files: message" 0 $?
is "and nothing in the file" 0 "$(wc -c <"$tmp/none")"

"$sfjit" run -r /nowhere/file -- true 2>"$tmp/err"
is "no such directory: status" 125 $?
is "no such directory: message" \
	"sfjit: /nowhere/file: No such file or directory" "$(cat "$tmp/err")"
for text in 'process' 'process 1 a
no_fde' 'no_fde 3' 'last no_fde x'; do
	echo "$text" >"$tmp/wrong"
	message=$("$sfjit" explain -r "$tmp/wrong" "$tmp/data" 2>&1)
	is "another file: '$text'" \
		"1 sfjit: $tmp/wrong: not what sfjit run writes" "$? $message"
done
finish
