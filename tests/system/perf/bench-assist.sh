#!/bin/sh
# SPDX-License-Identifier: MIT
# SPDX-FileCopyrightText: 2026 The sfjit authors
#
# bench/run assist gives the promised figures: what an answer costs for each function
# of Python and in all else, and that to be asked costs nothing before.

set -eu
# shellcheck source=tests/lib/tap.sh
. "$(dirname "$0")/../../lib/tap.sh"
# shellcheck source=tests/system/perf/bench-quick
. "$top/tests/system/perf/bench-quick"

bench_quick assist
bench/report "$tmp" >"$tmp/table"
for part in "for each function |.*<= 150" "all else |.*<= 20,\{0,1\}000"; do
	works "beyond the walk, $part" grep \
		"^| Python, a sample that asks: beyond the walk, $part |" \
		"$tmp/table"
done
for name in calls queens objects generators floats documents patterns sorting
do
	works "instructions of $name" grep \
		"^| Python, $name: nobody records |.*[1-9].* instructions |" \
		"$tmp/table"
done
# How much it is, is no matter of a test: a process may have its memory elsewhere.
works "nobody records" grep -E "^\| Python, all of these: nobody records \|.*\
 (0\.9|1\.0)[0-9]* \| ratio <= 1\.001(: missed)? \|" "$tmp/table"
is "missed" "" "$(grep ': missed' "$tmp/table" | grep -v ': nobody records ')"
finish
