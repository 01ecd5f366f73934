#!/bin/sh
# SPDX-License-Identifier: MIT
# SPDX-FileCopyrightText: 2026 The sfjit authors
#
# Runs in the guest, for tests/system/guest/assist_python.sh.

# shellcheck source=tests/lib/tap.sh
. "$(dirname "$0")/../../lib/tap.sh"
PYTHONPATH=$O/lib/python
export PYTHONPATH

# record GRAPH WORD...: what the program says is $tmp/out, the stacks $tmp/script
record() {
	graph=$1
	shift
	perf record -q -e cpu-clock:u -F 997 --call-graph="$graph" \
		-o "$tmp/data" -- "$O/bin/sfjit" run -- python3 "$@" \
		>"$tmp/out" 2>"$tmp/err" || {
		not_ok "perf record $graph" "$(tail -n 1 "$tmp/err")"
		finish
	}
	perf script --no-inline -i "$tmp/data" -F tid,ip,sym,dso \
		>"$tmp/script" 2>/dev/null
}

program=tests/runtimes/python/assist_calls.py
record_workers() {
	rm -f "$tmp/counts"
	record fp,defer -m sfjit --assist $program "$seconds" "$tmp/counts"
}
are_workers() { [ "$(grep -c 'py::worker:' "$tmp/script")" -ge 2000 ]; }
until_enough "9 90 900" are_workers record_workers
also python3 -B tests/runtimes/python/judge_assist.py "$tmp/script" "$tmp/counts"
is "the program's own result" "$(python3 $program 0)" "$(cat "$tmp/out")"

# Nobody is asked: the functions are not there.
record fp -m sfjit --assist $program 2
is "walked at once: functions" 0 "$(grep -c 'py::' "$tmp/script")"

# Its handlers have an alternate stack, which is small.
python3 -X faulthandler -m sfjit --assist -c 'print("runs")' >"$tmp/said" 2>&1
like "faulthandler: its stack is too small" \
	"*the alternate signal stack of this thread is too small: disable faulthandler, which installs it*" \
	"$(cat "$tmp/said")"
record fp,defer -m sfjit --assist -c 'import faulthandler; faulthandler.enable()
print(sum(i % 7 for i in range(10 ** 6)))'
is "faulthandler, later: the program runs" 2999997 "$(cat "$tmp/out")"
is "faulthandler, later: no functions" 0 \
	"$(grep -c 'py::.*<genexpr>' "$tmp/script")"
finish
