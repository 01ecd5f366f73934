#!/bin/sh
# SPDX-License-Identifier: MIT
# SPDX-FileCopyrightText: 2026 The sfjit authors
#
# What tests/lib/perfscript.py says of texts of perf script, and what it prints.

# shellcheck source=tests/lib/tap.sh
. "$(dirname "$0")/../lib/tap.sh"
also python3 -B tests/tools/perfscript.py

# lines ARGUMENT...: of two samples
lines() {
	printf '%s\n' "a b    12 " "$(printf '\t%s\n' "10 f g+0x2" "2f [unknown]")" \
		"" "c     3 " "$(printf '\t30 h+0x0')" "" |
		python3 -B tests/lib/perfscript.py "$@" 2>&1
}
is "a line for each sample" "a b 12 f g+0x2 [unknown]
c 3 h+0x0" "$(lines comm,pid,ip,sym)"
is "offsets, as perf has them" "a b 12 f g+0x2 [unknown]
c 3 h+0x0" "$(lines comm,pid,ip,sym,symoff)"
is "addresses" "a b 12 10:f g+0x2 2f:[unknown]
c 3 30:h+0x0" "$(lines --ip comm,pid,ip,sym)"
is "another separator" "a b,12,f g+0x2,[unknown]
c,3,h+0x0" "$(lines --separator=, comm,pid,ip,sym)"
is "bytes that are no UTF-8" "$(printf 'a\377b')" \
	"$(printf '\t1 a\377b\n\n' | python3 -B tests/lib/perfscript.py ip,sym)"
is "an error: what is said" "perfscript.py: perf script: line 1: no sample header" \
	"$(lines tid,ip,sym)"
is "an error: status" 1 "$(lines tid,ip,sym >"$tmp/said"; echo $?)"
finish
