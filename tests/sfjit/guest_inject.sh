#!/bin/sh
# SPDX-License-Identifier: MIT
# SPDX-FileCopyrightText: 2026 The sfjit authors
#
# In a guest of AArch64 or s390x: copies of stacks of programs with known calls,
# on AArch64 also with signed return addresses.

# shellcheck source=tests/lib/tap.sh
. "$(dirname "$0")/../lib/tap.sh"
inject=$O/tests/sfjit/programs/inject
known="leaf middle outer main _start"

# of_leaf RECORDING: prints stacks in leaf(), a line each, innermost frame
# first. One of the two functions of libc that call main() has no symbol.
of_leaf() {
	perf script --no-inline -F ip,sym -i "$1" 2>"$tmp/said" |
		python3 -B "$top/tests/lib/perfscript.py" ip,sym |
		grep -E '^leaf( |$)' |
		sed -E 's/ (\[unknown\] )?__libc_start[^ ]* _start$/ _start/'
}

[ "$(uname -m)" != aarch64 ] || is "this machine signs addresses" 1 \
	"$(grep -m 1 -c 'paca.*pacg' /proc/cpuinfo)"
for program in "$O"/tests/sfjit/programs/signed-*; do
	how=${program##*/signed-}
	perf record -q -e cpu-clock -F 499 --call-graph=dwarf -o "$tmp/data" \
		"$program" >"$tmp/said" 2>&1 ||
		not_ok "$how: perf" "$(cat "$tmp/said")"
	works "$how: converted" "$inject" inject -i "$tmp/data" -o "$tmp/out"
	of_leaf "$tmp/out" >"$tmp/stacks"
	nr=$(wc -l <"$tmp/stacks")
	works "$how: $nr samples" [ "$nr" -gt 100 ]
	is "$how: all stacks are the known one" "$known" \
		"$(sort -u "$tmp/stacks")"
done
finish
