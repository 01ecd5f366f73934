#!/bin/sh
# SPDX-License-Identifier: MIT
# SPDX-FileCopyrightText: 2026 The sfjit authors
#
# Description: under sfjit run, a program whose text must not be written
# registers everything that needs no write, and the rest has a reason.

# shellcheck source=tests/lib/tap.sh
. "$(dirname "$0")/../lib/tap.sh"
# shellcheck source=tests/preload/lib.sh
. "$top/tests/preload/lib.sh"
# shellcheck source=tests/preload/gdb.sh
. "$top/tests/preload/gdb.sh"

# PR_SET_MDWE: memory that was writable may not become executable.
cat >"$tmp/mdwe.py" <<'END'
import ctypes, os, sys
if ctypes.CDLL(None).prctl(65, 1, 0, 0, 0):
    sys.exit(77)
os.execv(sys.argv[1], sys.argv[1:])
END

# without_writing COMMAND...: runs under sfjit; prints its output and status
without_writing() {
	rm -f "$log"
	status=0
	python3 "$tmp/mdwe.py" "$sfjit" run -o "$log" -- "$@" >"$tmp/out" \
		2>"$tmp/stderr" || status=$?
	[ $status != 77 ] || skip_all "no PR_SET_MDWE here"
	echo $status >>"$tmp/out"
}

without_writing "$run/loader" keep "$run/plugin1.so"
is "the program runs" "1
0" "$(cat "$tmp/out")"
like "of ld.so: a reason" \
	"skipped *:_dl_debug_state: cannot be written (errno 1)" \
	"$(logged :_dl_debug_state)"
like "libraries are noticed" "registered *" "$(logged plugin1)"
like "the module has its window" "registered * windows=1 *" \
	"$(logged /libsfjit-preload.so)"

# With gdb's interface only.
without_writing "$jit" publish
is "a JIT for gdb: runs, has windows" "$(windows '1 0' '1 0')
0" "$(cat "$tmp/out")"
is "a JIT for gdb: a reason" \
	"skipped $jit:__jit_debug_register_code: cannot be written (errno 1)" \
	"$(logged gdb-jit:__jit_debug_register_code)"
is "a JIT for gdb: what is in the list already is read, no call is noticed" \
	"registered " "$(steps)"
finish
