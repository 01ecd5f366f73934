#!/bin/sh
# SPDX-License-Identifier: MIT
# SPDX-FileCopyrightText: 2026 The sfjit authors
#
# In the guest: sfjit daemon beside many short processes, many at once, and more
# mappings than it has read.

# shellcheck source=tests/lib/tap.sh
. "$(dirname "$0")/../lib/tap.sh"
# shellcheck source=tests/sfjit/daemon-lib.sh
. "$top/tests/sfjit/daemon-lib.sh"
programs=$O/tests/sfjit/programs

# memory FIELD: of the daemon, in KiB
memory() { awk -v field="$1:" '$1 == field { print $2 }' "/proc/$daemon/status"; }

# settled NAME: all that was mapped before is converted, since a file with this name is.
settled() {
	cp /bin/true "$work/$1"
	await 1 "$work/$1" "$work/$1"
}

# Run the other programs that map files first: perf, pgrep, and what reads tables.
start_daemon
cp "$programs/daemon-short" "$work/short"
record "$work/short"
pgrep -x short >"$tmp/out"
tables_of "$work/short" | wc -l >"$tmp/out"
memory VmData >"$tmp/out"
settled first

# --- one after the other ------------------------------------------------------------

tables >"$tmp/before"
data_before=$(memory VmData)
frequency=100
record "$work/short" 2000
tables >"$tmp/after"
judge "2,000 short processes" short
same "they share the tables that were there" "$tmp/before" "$tmp/after"
is "the daemon's memory does not grow" "$data_before" "$(memory VmData)"
is "no file was given up" "" "$(grep -v ': [0-9]* tables*, [0-9]* bytes$' "$log")"

# --- more than a ring holds ---------------------------------------------------------

kill -STOP "$daemon"
for cpu in 0 1; do
	taskset -c $cpu "$work/short" 300
done
cp /bin/sleep "$work/lost"
"$work/lost" infinity &
lost=$!
until_runs 1 lost
kill -CONT "$daemon"
# The kernel says so with the next mapping on that CPU.
until_said 1 "events were lost" taskset -c 0 "$work/short"
await 1 "$work/lost" true
ok "a program whose mapping was lost has a table"
kill $lost

# --- all at once ----------------------------------------------------------------------

cp /bin/sleep "$work/many"
await 1 "$work/many" "$work/many" 0
settled second
tables >"$tmp/before"
i=0
while [ $i -lt 300 ]; do
	"$work/many" infinity &
	i=$((i + 1))
done
until_runs 300 many
settled third
is "300 processes of a program: one table" 1 "$(tables_of "$work/many" | wc -l)"
tables | grep -vxF "$(tables_of "$work/third")" >"$tmp/after"
same "and no other" "$tmp/before" "$tmp/after"
stop_daemon

start_daemon
await 1 "$work/many" true
settled fourth
is "another daemon: one conversion" 1 "$(said "$work/many: ")"
is "one table" 1 "$(tables_of "$work/many" | wc -l)"
pkill -x many
stop_daemon
finish
