#!/bin/sh
# SPDX-License-Identifier: MIT
# SPDX-FileCopyrightText: 2026 The sfjit authors
#
# Description: under sfjit run, a debugger's breakpoint in the function by which
# a JIT announces code stops at each call, whether or not it was set first.

# shellcheck source=tests/lib/tap.sh
. "$(dirname "$0")/../lib/tap.sh"
# shellcheck source=tests/preload/lib.sh
. "$top/tests/preload/lib.sh"
# shellcheck source=tests/preload/gdb.sh
. "$top/tests/preload/gdb.sh"

where=$("$jit" where)

# debug WHEN [ARGUMENT...]: gdb-jit under sfjit, both under a debugger.
debug() {
	when=$1
	shift
	rm -f "$log"
	"$run/debugger" "$when" "$where" "$sfjit" run -o "$log" -- \
		"$jit" publish "$@" >"$tmp/out" 2>"$tmp/stderr"
	echo $? >>"$tmp/out"
}

register "$jit" publish >"$tmp/out"
is "without one: each call is noticed" \
	"registered registered removed removed " "$(steps)"
is "without one: windows" "$(windows '1 1' '0 0')" "$(cat "$tmp/out")"

# The first byte of the jump, and three calls.
debug stop stop
is "set later: stops at each call" "$(windows '1 1' '0 0')
ff 3
0" "$(cat "$tmp/out")"
like "set later: it is in a jump" "follows *" \
	"$(logged gdb-jit:__jit_debug_register_code)"
is "set later: each call is noticed" \
	"registered registered removed removed " "$(steps)"

# The first of four calls comes before the module has looked.
debug start
is "set before: stops at each call" "$(windows '1 0' '1 0')
4
0" "$(sed '3s/^.. //' "$tmp/out")"
is "set before: a reason" "skipped $jit:__jit_debug_register_code: is not an \
empty function with room for a jump (errno 95)" \
	"$(logged gdb-jit:__jit_debug_register_code)"
is "set before: what is in the list already is read, no call is noticed" \
	"registered " "$(steps)"
finish
