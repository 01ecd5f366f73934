#!/bin/sh
# SPDX-License-Identifier: MIT
# SPDX-FileCopyrightText: 2026 The sfjit authors
#
# In a guest of AArch64 or s390x: copies of stacks of programs with known calls,
# on AArch64 also with signed return addresses.

# shellcheck source=tests/lib/tap.sh
. "$(dirname "$0")/../lib/tap.sh"
# shellcheck source=tests/sfjit/signed.sh
. "$top/tests/sfjit/signed.sh"
inject=$O/tests/sfjit/programs/inject

[ "$(uname -m)" != aarch64 ] || is "this machine signs addresses" 1 \
	"$(grep -m 1 -c 'paca.*pacg' /proc/cpuinfo)"
for program in "$O"/tests/sfjit/programs/signed-*; do
	how=${program##*/signed-}
	perf record -q -e cpu-clock -F 499 --call-graph=dwarf -o "$tmp/data" \
		"$program" >"$tmp/said" 2>&1 ||
		not_ok "$how: perf" "$(cat "$tmp/said")"
	works "$how: converted" "$inject" inject -i "$tmp/data" -o "$tmp/out"
	of_leaf "$tmp/out" >"$tmp/stacks"
	all_known "$how" "$tmp/stacks"
done
finish
