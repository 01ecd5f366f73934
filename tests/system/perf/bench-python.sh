#!/bin/sh
# SPDX-License-Identifier: MIT
# SPDX-FileCopyrightText: 2026 The sfjit authors
#
# bench/run python gives the promised figures, and trampolines cost what those
# of -X perf do.

set -eu
# shellcheck source=tests/lib/tap.sh
. "$(dirname "$0")/../../lib/tap.sh"
# shellcheck source=tests/system/perf/bench-quick
. "$top/tests/system/perf/bench-quick"

bench_quick python
bench/report "$tmp" >"$tmp/table"
for name in calls queens objects generators floats documents patterns sorting
do
	works "instructions of $name" grep \
		"^| Python, $name: with trampolines |.*[1-9].* instructions |" \
		"$tmp/table"
done
works "beside -X perf" grep "^| Python, all of these: .*beside -X perf |.*<= 1.05 |" \
	"$tmp/table"
is "missed" "" "$(grep ': missed' "$tmp/table")"
finish
