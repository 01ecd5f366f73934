#!/bin/sh
# SPDX-License-Identifier: MIT
# SPDX-FileCopyrightText: 2026 The sfjit authors
#
# In the guest: sfjit explain for call chains of the kernel with windows, and
# without.

# shellcheck source=tests/lib/tap.sh
. "$(dirname "$0")/../lib/tap.sh"
# shellcheck source=tests/preload/lib.sh
. "$top/tests/preload/lib.sh"

# record NAME COMMAND...
record() {
	_to=$tmp/$1
	shift
	perf record -q -e cpu-clock -F 499 --call-graph=fp -o "$_to" -- "$@" \
		>"$tmp/said" 2>&1 || not_ok "perf record" "$(cat "$tmp/said")"
}

# share NAME: complete ones of a hundred samples with a stack
share() {
	"$sfjit" explain --json "$tmp/$1" | python3 -c '
import json, sys
found = json.load(sys.stdin)
print(100 * found["complete"] // (found["samples"] - found["without"]))'
}

edges=$O/tests/stacks/programs/stacks-edges
work='import json, time
while time.process_time() < 2:
    json.dumps([{"a": list(range(50))}], default=str)'

# The tables of python3 and its libraries are made once.
"$sfjit" run -- python3 -c pass
record edges.run "$sfjit" run -- "$edges"
record python.run "$sfjit" run -- python3 -c "$work"
record edges "$edges"
record python python3 -c "$work"

# The first milliseconds of a program have no windows.
for name in edges python; do
	share=$(share $name.run)
	if [ "$share" -ge 95 ]; then
		ok "$name under sfjit run: nearly all are complete"
	else
		not_ok "$name under sfjit run: nearly all are complete" \
			"$share %: $("$sfjit" explain "$tmp/$name.run")"
	fi
	is "$name without: none is complete" 0 "$(share $name)"
	"$sfjit" explain "$tmp/$name" >"$tmp/text"
	is "$name without: what to do" 1 "$(grep -cx "    fix: sfjit record on any \
kernel; sfjit run or sfjit daemon on one with windows" "$tmp/text")"
	is "$name without: no word of those who used sfjit run" 0 \
		"$(grep -c "sfjit doctor" "$tmp/text")"
done
finish
