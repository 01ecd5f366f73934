# SPDX-License-Identifier: MIT
# SPDX-FileCopyrightText: 2026 The sfjit authors
# shellcheck shell=sh disable=SC2154
#
# Stacks of tests/sfjit/inject/signed.c; source it after tests/lib/tap.sh.

known="leaf middle outer main _start"

# of_leaf RECORDING: prints stacks in leaf(), a line each, innermost frame
# first. One of the two functions of libc that call main() has no symbol.
of_leaf() {
	perf script --no-inline -F ip,sym -i "$1" 2>"$tmp/said" |
		python3 -B "$top/tests/lib/perfscript.py" --user ip,sym |
		grep -E '^leaf( |$)' |
		sed -E 's/ (\[unknown\] )?__libc_start[^ ]* _start$/ _start/'
}

# all_known NAME STACKS
all_known() {
	nr=$(wc -l <"$2")
	works "$1: $nr samples" [ "$nr" -gt 100 ]
	is "$1: all stacks are the known one" "$known" "$(sort -u "$2")"
}
