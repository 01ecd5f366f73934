#!/bin/sh
# SPDX-License-Identifier: MIT
# SPDX-FileCopyrightText: 2026 The sfjit authors
#
# bench/run daemon gives the promised figures; tables of files take no more memory than
# they should.

set -eu
# shellcheck source=tests/lib/tap.sh
. "$(dirname "$0")/../../lib/tap.sh"
# shellcheck source=tests/system/perf/bench-quick
. "$top/tests/system/perf/bench-quick"

bench_quick daemon
bench/report "$tmp" >"$tmp/table"
for name in true python3; do
	works "start of $name" grep \
		"^| start of $name beside sfjit daemon |.*[1-9].* instructions |" \
		"$tmp/table"
done
works "the daemon's own" grep "^| what the daemon runs .* instructions |" "$tmp/table"
works "tables" grep "^| tables of [0-9]* files of a desktop | .* bytes |" "$tmp/table"
is "their size" "" "$(grep '^| tables .*: missed' "$tmp/table")"
finish
