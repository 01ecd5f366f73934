#!/bin/sh
# SPDX-License-Identifier: MIT
# SPDX-FileCopyrightText: 2026 The sfjit authors
#
# bench/run start gives the promised figures, and the start of a program takes no
# more instructions than it should. Times are not checked.

set -eu
# shellcheck source=tests/lib/tap.sh
. "$(dirname "$0")/../../lib/tap.sh"
# shellcheck source=tests/system/perf/bench-quick
. "$top/tests/system/perf/bench-quick"

bench_quick start
bench/report "$tmp" >"$tmp/table"
for name in python3 true; do
	works "start of $name" grep \
		"^| start of $name with sfjit run |.*[1-9].* instructions |" \
		"$tmp/table"
	works "time of $name" grep \
		"^| what sfjit run adds to the start of $name |.* ms |" \
		"$tmp/table"
done
for name in "first start of true with sfjit run" \
	"later start of true with sfjit run, without a home"; do
	works "$name" grep "^| $name |.*[1-9].* instructions |" "$tmp/table"
done
is "instructions" "" "$(grep '^| .*start of .*: missed' "$tmp/table")"
finish
