#!/bin/sh
# SPDX-License-Identifier: MIT
# SPDX-FileCopyrightText: 2026 The sfjit authors
#
# bench/live gives the promised figures, as bench/run puts them; publishing
# makes no system call, and takes fewer instructions than any other way does.
# Times are not checked: instructions are counted.

set -eu
# shellcheck source=tests/lib/tap.sh
. "$(dirname "$0")/../../lib/tap.sh"
# shellcheck source=tests/system/perf/bench-quick
. "$top/tests/system/perf/bench-quick"

bench_quick live
also python3 -B tests/system/perf/bench-live-figures.py "$tmp"

# status NAME WANT ARGUMENT: of what publishes under seccomp's strict mode
status() {
	rc=0
	"$O/bench/bin/publish" "$3" 2>"$tmp/log" || rc=$?
	if [ $rc = 77 ]; then
		skip "$1" "kernel without seccomp"
	else
		is "$1" "$2" $rc
	fi
}
status "publishing 10,000 functions makes no system call" 0 strict
# 128 + SIGKILL
status "growing makes one, and is killed for it" 137 strict-grow
finish
