#!/bin/sh
# SPDX-License-Identifier: MIT
# SPDX-FileCopyrightText: 2026 The sfjit authors
#
# Description: under sfjit run, what lli waits for on the thread that compiles,
# until its code has tables, is a small part of the time it compiles.

# shellcheck source=tests/lib/tap.sh
. "$(dirname "$0")/../lib/tap.sh"
# shellcheck source=tests/preload/lib.sh
. "$top/tests/preload/lib.sh"

functions=400

# Each is compiled, and called once.
awk -v n=$functions 'BEGIN {
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
}' >"$tmp/calls.c"
clang -O2 -emit-llvm -c -o "$tmp/calls.bc" "$tmp/calls.c"
printf 'int main(void) { return 0; }\n' >"$tmp/none.c"
clang -O2 -emit-llvm -c -o "$tmp/none.bc" "$tmp/none.c"

# cpu COMMAND...: microseconds that it takes of CPUs
cpu() {
	python3 -B - "$@" <<'END'
import os, resource, subprocess, sys
subprocess.run(sys.argv[1:], check=True, stdout=subprocess.DEVNULL)
used = resource.getrusage(resource.RUSAGE_CHILDREN)
print(int((used.ru_utime + used.ru_stime) * 1e6))
END
}

# Microseconds of all that JITs published.
published() {
	sed -n 's/.* jit:[0-9a-f]* .* ms=\([0-9.]*\).*/\1/p' "$log" |
		awk '{ sum += $1 } END { printf "%d\n", sum * 1000 }'
}

for engine in mcjit orc; do
	compiling=$(($(cpu lli -jit-kind=$engine "$tmp/calls.bc") - \
		$(cpu lli -jit-kind=$engine "$tmp/none.bc")))
	# Time on a clock, in which others may run: the least of three.
	least=
	for round in 1 2 3; do
		register lli -jit-kind=$engine "$tmp/calls.bc" >"$tmp/out.$round"
		took=$(published)
		[ -n "$least" ] && [ "$least" -le "$took" ] || least=$took
	done
	is "$engine: runs as without" "$(lli "$tmp/calls.bc")" \
		"$(cat "$tmp/out.3")"
	bytes=$(sed -n 's/.* jit:[0-9a-f]* .*bytes=\([0-9]*\).*/\1/p' "$log" |
		sort -n | tail -n 1)
	# An entry of the index alone is 16 bytes.
	if [ "${bytes:-0}" -ge $((16 * functions)) ]; then
		ok "$engine: a table has all functions"
	else
		not_ok "$engine: a table has all functions" "$bytes bytes"
	fi
	if [ "$least" -gt 0 ] && [ $((10 * least)) -le "$compiling" ]; then
		ok "$engine: at most a tenth ($least of $compiling us)"
	else
		not_ok "$engine: at most a tenth" "$least of $compiling us"
	fi
done
finish
