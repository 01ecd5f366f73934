#!/bin/sh
# SPDX-License-Identifier: MIT
# SPDX-FileCopyrightText: 2026 The sfjit authors
#
# bench/run walk, or walk-MACHINE, runs in the guest, where each walk has to find
# the whole stack, and gives the promised figures. They are counts of
# instructions, not times, so that the kernel without windows can be held to its
# aim.

set -eu
# shellcheck source=tests/lib/tap.sh
. "$(dirname "$0")/../../lib/tap.sh"
# shellcheck source=tests/system/perf/bench-quick
. "$top/tests/system/perf/bench-quick"

walk=walk link='frame pointer'
case ${SFJIT_KERNEL:-} in
aarch64) walk=walk-aarch64 ;;
s390x) walk=walk-s390x link='back chain' ;;
esac
bench_quick $walk

bench/report "$tmp" >"$tmp/table"
promised() {
	works "$1" grep "^| $1 |.*[1-9].* instructions |" "$tmp/table"
}

for mode in fp fp,defer; do
	promised "$mode: $link step, no window"
	promised "$mode: walk of 64 frames by $link, no window"
	promised "$mode: $link step beside a window"
	promised "$mode: $link step beside a window, in another range each time"
	promised "$mode: step through a pool window"
	promised "$mode: step through a pool window, rbp restored"
	for file in libc.so.6 python3.13; do
		promised "$mode: step through the table of $file"
		promised "$mode: step through the SFrame section of $file"
	done
done

# Documentation/numbers.rst says why.
missed=$(sed -n 's/^| \([^|]*\) |.*: missed |.*/\1/p' "$tmp/table")
case $walk in
walk-s390x | walk-aarch64)
	is "aims that are missed" "" "$missed"
	finish
	;;
esac

# What reads a table misses its aim.
is "aims that are missed" "fp: frame pointer step beside a window, in another range each time
fp: step through a pool window
fp: step through a pool window, rbp restored
fp: step through the table of libc.so.6
fp: step through the table of python3.13
fp,defer: step through a pool window
fp,defer: step through a pool window, rbp restored" "$missed"
finish
