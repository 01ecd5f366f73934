#!/bin/sh
# SPDX-License-Identifier: MIT
# SPDX-FileCopyrightText: 2026 The sfjit authors
#
# Description: the profiler of the documents finds the callers that programs
# have, by address, also if they have .debug_frame alone.

# shellcheck source=tests/lib/tap.sh
. "$(dirname "$0")/../lib/tap.sh"

# Of code without unwind tables, gcc -g writes .debug_frame: the file has an
# .eh_frame of crt1.o nevertheless.
debug="-g -O2 -fno-asynchronous-unwind-tables -fomit-frame-pointer"
build() {
	# shellcheck disable=SC2086
	gcc $debug $2 tests/stacks/edges.c -o "$tmp/$1"
}
cp "$O/tests/stacks/programs/stacks-edges" "$tmp/edges-program"
build plain -gz=none && build compressed -gz=zlib && build old -gz=zlib-gnu &&
	build static -static || skip_all "gcc cannot build the programs"

profile() { "$O/examples/profiler" "$program" >"$tmp/stacks" 2>"$tmp/edges"; }
has_stacks() { [ "$(wc -l <"$tmp/stacks")" -ge 400 ]; }

# verdict PROGRAM: of the calls below which samples of work() are, and of what
# is above these
verdict() {
	program=$tmp/$1
	# Some are lost if it has no time to read them.
	until_enough "$(seq 20)" has_stacks profile ||
		skip_all "perf_event_open: $(cat "$tmp/edges")"
	awk '
NR == FNR {
	caller[$1] = $2
	next
}
{ all++ }
/: complete$/ { complete++ }
$3 in caller {
	below[$3]++
	base = ""
	for (i = 5; i < NF; i++)
		base = base " " $i
	if (!first)
		first = base
	if ($4 != caller[$3] || base != first || $NF != "complete")
		print "bad", $0
}
END {
	for (call in caller)
		print (below[call] >= 100 ? "many" : "few " below[call] + 0)
	print (complete >= all * 0.99 ? "complete" : complete " of " all)
	print split(first, word, " ")
}' "$tmp/edges" "$tmp/stacks" >"$tmp/verdict"
}

for name in edges-program plain compressed old static; do
	verdict $name
	is "$name: both callers, exact, and what is above them" \
		"many many complete" \
		"$(head -n 3 "$tmp/verdict" | tr '\n' ' ' | sed 's/ $//')"
	# __libc_start_call_main, __libc_start_main, _start
	is "$name: up to the entry of the program" 3 \
		"$(tail -n 1 "$tmp/verdict")"
done

# Where a program starts there are no rules in ld.so and with some C libraries.
cat >"$tmp/entry.c" <<'END'
__asm__(".globl _start\n_start: call run\n");
void run(void)
{
	volatile unsigned int i;

	for (i = 0; i < 400000000; i++)
		;
	__asm__ volatile("mov $60, %eax\n\txor %edi, %edi\n\tsyscall");
}
END
works "a program without a C library" gcc -nostdlib -static "$tmp/entry.c" \
	-o "$tmp/entry"
program=$tmp/entry
profile
is "each stack ends where the program starts" "complete 2" \
	"$(awk '{ print $NF, NF - 2 }' "$tmp/stacks" | sort -u)"
is "a usage" "usage: profiler COMMAND [ARGUMENT...]" \
	"$("$O/examples/profiler" 2>&1)"
finish
