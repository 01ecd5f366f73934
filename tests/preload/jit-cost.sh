#!/bin/sh
# SPDX-License-Identifier: MIT
# SPDX-FileCopyrightText: 2026 The sfjit authors
#
# Description: under sfjit run, lli waits in the compiling thread until its code
# has tables; not more often for many functions than for few.

# shellcheck source=tests/lib/tap.sh
. "$(dirname "$0")/../lib/tap.sh"
# shellcheck source=tests/preload/lib.sh
. "$top/tests/preload/lib.sh"

# program NAME FUNCTIONS: each is compiled, and called once
program() {
	awk -v n="$2" 'BEGIN {
		print "int printf(const char *, ...);"
		for (i = 0; i < n; i++) {
			printf "__attribute__((noinline)) int f%d(int a, int b) {", i
			printf " int s = a; for (int k = 0; k < b %% 17 + %d; k++)", i % 7
			printf " s = s * 31 + (k ^ %d);", i
			print " printf(\"\"); return s; }"
		}
		print "int main(void) { int s = 0;"
		for (i = 0; i < n; i++)
			printf "s += f%d(s, %d);\n", i, i
		print "printf(\"%d\\n\", s); return 0; }"
	}' >"$tmp/$1.c"
	clang -O2 -emit-llvm -c -o "$tmp/$1.bc" "$tmp/$1.c"
}

# How often lli waited for a table, and how often one was registered.
published() {
	echo "$(grep -c ' waits jit:' "$log") $(grep -c ' registered jit:' "$log")"
}

functions=400
program few 4
program many $functions
for engine in mcjit orc; do
	register lli -jit-kind=$engine "$tmp/few.bc" >"$tmp/out"
	few=$(published)
	register lli -jit-kind=$engine "$tmp/many.bc" >"$tmp/out"
	is "$engine: runs as without" "$(lli "$tmp/many.bc")" "$(cat "$tmp/out")"
	rows=$(sed -n 's/.* jit:[0-9a-f]* .*rows=\([0-9]*\).*/\1/p' "$log" |
		sort -n | tail -n 1)
	# Each function has at least one.
	if [ "${rows:-0}" -ge $functions ]; then
		ok "$engine: a table has all functions"
	else
		not_ok "$engine: a table has all functions" "$rows rows"
	fi
	like "$engine: lli waits for a table" "[1-9]* [1-9]*" "$few"
	is "$engine: not more often for more functions" "$few" "$(published)"
done
finish
