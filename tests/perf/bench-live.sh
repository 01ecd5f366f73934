#!/bin/sh
# SPDX-License-Identifier: MIT
# SPDX-FileCopyrightText: 2026 The sfjit authors
#
# bench/live gives the promised figures, as bench/run puts them; publishing
# makes no system call, and takes fewer instructions than any other way does.
# Times are not checked: instructions are counted.

set -eu
cd "$(dirname "$0")/../.."
O=${O:-build}
# shellcheck source=tests/perf/bench-quick
. tests/perf/bench-quick
failed=0

bench_quick live
python3 -B tests/perf/bench-live-figures.py "$tmp" || failed=1

# status NAME WANT ARGUMENT: of what publishes under seccomp's strict mode
status() {
	rc=0
	"$O/bench/bin/publish" "$3" 2>"$tmp/log" || rc=$?
	if [ $rc = 77 ]; then
		echo "skip - $1: kernel without seccomp"
	elif [ $rc = "$2" ]; then
		echo "ok - $1"
	else
		echo "not ok - $1: exit status $rc, expected $2"
		failed=1
	fi
}
status "publishing 10,000 functions makes no system call" 0 strict
# 128 + SIGKILL
status "growing makes one, and is killed for it" 137 strict-grow
exit $failed
