#!/bin/sh
# SPDX-License-Identifier: MIT
# SPDX-FileCopyrightText: 2026 The sfjit authors
#
# In the guest: processes share their tables, which are in memory, and have
# little private memory. A table that is evicted or truncated only truncates
# stacks.

# shellcheck source=tests/lib/tap.sh
. "$(dirname "$0")/../lib/tap.sh"
# shellcheck source=tests/preload/lib.sh
. "$top/tests/preload/lib.sh"

# begin COMMAND...: starts it and waits for its windows; sets $pid
begin() {
	rm -f "$log"
	"$@" 2>"$tmp/stderr" &
	pid=$!
	while ! grep -qs ' ready ' "$log"; do
		sleep 0.1
	done
}

# maps PID: lines "KEY KILOBYTES FILE" of each mapping of a file
maps() {
	awk '/^[0-9a-f]*-[0-9a-f]* / { file = NF > 5 ? $NF : "" }
		/^[A-Z][A-Za-z_]*: *[0-9]* kB/ {
			sub(":", "", $1)
			print $1, $2, file
		}' "/proc/$1/smaps"
}

# sum KEY FILE <MAPS: sums up the files whose names match
sum() {
	awk -v key="$1" -v file="$2" '$1 == key && $3 ~ file { sum += $2 }
		END { print sum + 0 }'
}

# at_most NAME LIMIT VALUE: in kilobytes
at_most() {
	if [ "$3" -gt 0 ] && [ "$3" -le "$2" ]; then
		ok "$1: at most $2 kB ($3 kB)"
	else
		not_ok "$1" "$3 kB, not up to $2 kB"
	fi
}

set -- python3 -I -c '__import__("time").sleep(60000)'
register python3 -I -c pass
begin "$sfjit" run -o "$log" -- "$@"
one=$pid
begin "$sfjit" run -o "$log" -- "$@"
two=$pid
modules=$(grep -c ' registered .* source=cache ' "$log")
for process in $one $two; do
	maps "$process" >"$tmp/maps"
	is "a table in the cache for each module, mapped once" "$modules" \
		"$(grep -c '^Size .*/sfjit/tables/' "$tmp/maps")"
	# Each mapping except its last page, which is a guard.
	is "all of the tables is in memory" \
		$(($(sum Size /sfjit/tables/ <"$tmp/maps") - 4 * modules)) \
		"$(sum Rss /sfjit/tables/ <"$tmp/maps")"
	is "no page of a table is of one process" "0 0" \
		"$(sum Private_Dirty /sfjit/tables/ <"$tmp/maps") $(sum \
		Private_Clean /sfjit/tables/ <"$tmp/maps")"
	at_most "private memory of the module" 64 \
		"$(sum Private_Dirty /libsfjit-preload <"$tmp/maps")"
done
kill "$one" "$two"

# The private memory of a process, compared with that without sfjit.
private() {
	sed -n 's/^Private_Dirty: *\([0-9]*\) kB/\1/p' "/proc/$1/smaps_rollup"
}
register sleep 0
begin "$sfjit" run -o "$log" -- sleep 60000
one=$pid
begin "$sfjit" run -o "$log" -- sleep 60000
two=$pid
sleep 60000 &
plain=$!
until [ "$(cat /proc/$plain/comm)" = sleep ] &&
	grep -q '^State:.S' /proc/$plain/status; do
	sleep 0.1
done
at_most "private memory beside that of a program without windows" 64 \
	$(($(private "$one") - $(private "$plain")))
at_most "and of another one" 64 \
	$(($(private "$two") - $(private "$plain")))
kill "$one" "$two" "$plain"

section_faults() {
	sed -n 's/^section_fault //p' "/proc/$pid/sframe"
}

# sample MODE: until there are a hundred; other programs may use all CPU time
sample() { until_enough "1 3 10 30 100 300" are_hundred sample_once "$1"; }

sample_once() {
	perf record -q -e cpu-clock --call-graph="$1" -p "$pid" \
		-o "$tmp/perf.data" -- sleep "$seconds" >/dev/null 2>&1
}

are_hundred() {
	[ "$(perf script -F pid -i "$tmp/perf.data" 2>/dev/null |
		grep -c "$pid")" -ge 100 ]
}

# Take a first sample, so that tables are present and none is refused.
register python3 -I -c pass
begin "$sfjit" run -o "$log" -- python3 -I -c 'while True: pass'
sample fp
is "tables are read" 0 "$(section_faults)"
kill "$pid"

# The kernel evicts the pages of tables. A sample reports that and does not
# wait.
begin "$sfjit" run -o "$log" -- python3 -I -c 'while True: pass'
is "tables that are evicted: kilobytes in memory" 0 \
	"$(python3 tests/preload/programs/evict.py "$pid" /sfjit/tables/)"
sample fp
like "tables that are evicted: sfjit ps" "*part of the table was not in memory*" \
	"$("$sfjit" ps "$pid")"
faults=$(section_faults)
if [ "$faults" -gt 0 ]; then
	ok "tables that are evicted end stacks"
else
	not_ok "tables that are evicted" "$(cat "/proc/$pid/sframe")"
fi
sample fp,defer
is "a deferred stack brings them in" "$faults" "$(section_faults)"
sample fp
again=$(($(section_faults) - faults))
if [ $((10 * again)) -le "$faults" ]; then
	ok "and then others find them there"
else
	not_ok "stacks after that" "$faults ended, and $again again"
fi
kill "$pid"

# Truncate the tables while a program runs.
begin "$sfjit" run -o "$log" -- python3 -I -c 'while True: pass'
for table in "$tables"/*; do
	: >"$table"
done
sample fp
if [ "$(section_faults)" -gt 0 ] && kill "$pid"; then
	ok "tables that are cut short end stacks, and no program"
else
	not_ok "tables that are cut short" "$(cat "/proc/$pid/sframe" 2>&1)"
fi
register "$run/hello" >"$tmp/out"
is "nor one that starts then" hello "$(cat "$tmp/out")"
like "which makes them again" "*source=converted*" "$(logged /libc.so)"
finish
