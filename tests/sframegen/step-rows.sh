#!/bin/sh
# SPDX-License-Identifier: MIT
# SPDX-FileCopyrightText: 2026 The sfjit authors
#
# Description: rows derived from instructions find the caller at each
# instruction that a program executes, and a wrong row is noticed.
#
# With arguments, this program is run instead, and compared where it executes
# code without CFI. LD_LIBRARY_PATH may name libraries of an unpacked package.

# shellcheck source=tests/lib/tap.sh
. "$(dirname "$0")/../lib/tap.sh"
# shellcheck source=tests/sframegen/common
. "$top/tests/sframegen/common"

judge=$programs/step-rows

if [ $# -gt 0 ]; then
	"$judge" "$@" >"$tmp/out" 2>&1
	is "$1: exit status" 0 $?
	sed 's/^/# /' "$tmp/out"
	finish
fi

"$judge" "$programs/no-cfi" >"$tmp/out" 2>&1
is "a row of wrong CFI is noticed" 1 $?
sed 's/^/# /' "$tmp/out"
is "at both of its instructions" "CFA=sp+64 CFA=sp+64" \
	"$(sed -n 's/^wrong: [^:]*: \([^;]*\);.*/\1/p' "$tmp/out" |
		paste -sd ' ')"
is "each derived row finds the caller" "no-cfi: derived 82 steps,\
 61 addresses, 0 wrong; by CFI 4 steps, 4 addresses, 2 wrong; without a row\
 1 steps, 1 addresses" "$(sed -n '/^no-cfi: /p' "$tmp/out")"
is "calls return, one of them with another frame pointer" \
	"visits: 9 returned, 0 elsewhere, 0 cut, 0 not by a call; 0 steps\
 left out; return address replaced at 0 steps, frame pointer not kept at 1" \
	"$(sed -n '/^visits: /p' "$tmp/out")"
finish
