# SPDX-License-Identifier: MIT
# SPDX-FileCopyrightText: 2026 The sfjit authors
# shellcheck shell=sh disable=SC2034,SC2154
#
# For the tests with gdb-jit; sourced after lib.sh.

jit=$run/gdb-jit

# Actions, one word each: registered, removed, skipped.
steps() {
	sed -n 's/^sfjit: [0-9]* [0-9.]* \([a-z]*\) jit:.*/\1/p' "$log" |
		tr '\n' ' '
}

# windows BEFORE AFTER: the output of gdb-jit on this kernel.
windows() {
	if [ -e /proc/self/sframe ]; then
		printf '%s\n' "$1" "$2"
	else
		printf '%s\n' '- -' '- -'
	fi
}
