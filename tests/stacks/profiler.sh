#!/bin/sh
# SPDX-License-Identifier: MIT
# SPDX-FileCopyrightText: 2026 The sfjit authors
#
# Description: the profiler of the documents finds the callers that programs
# have, by address, also if they have .debug_frame alone, and if they are many
# or ran before.

# shellcheck source=tests/lib/tap.sh
. "$(dirname "$0")/../lib/tap.sh"

# Of code without unwind tables, gcc -g writes .debug_frame: the file has an
# .eh_frame of crt1.o nevertheless.
debug="-g -O2 -fno-asynchronous-unwind-tables -fomit-frame-pointer"
command -v python3 >/dev/null || skip_all "python3 is not installed"
build() {
	# shellcheck disable=SC2086
	gcc $debug $2 tests/stacks/edges.c -o "$tmp/$1"
}
cp "$O/tests/stacks/programs/stacks-edges" "$tmp/edges-program"
build plain -gz=none && build compressed -gz=zlib && build old -gz=zlib-gnu &&
	build static -static || skip_all "gcc cannot build the programs"

# The same with .eh_frame: static, position-independent, without .eh_frame_hdr;
# each also without section headers. cut FROM TO: removes those.
cut() {
	python3 -B - "$1" "$2" <<'END'
import os
import struct
import sys
with open(sys.argv[1], 'rb') as file:
    data = bytearray(file.read())
start, nr = struct.unpack_from('<Q', data, 32)[0], data[56]
ends = [sum(struct.unpack_from('<Q', data, start + 56 * i + at)[0]
            for at in (8, 32)) for i in range(nr)]
struct.pack_into('<Q', data, 40, 0)
struct.pack_into('<2H', data, 60, 0, 0)
with open(sys.argv[2], 'wb') as file:
    file.write(data[:max(ends)])
os.chmod(sys.argv[2], 0o755)
END
}
debug="-O2 -fomit-frame-pointer"
kinds=
for kind in dynamic: static:-static pie:-static-pie \
	index:-Wl,--no-eh-frame-hdr; do
	name=${kind%%:*}
	build "with-$name" "${kind#*:}" && cut "$tmp/with-$name" "$tmp/cut-$name"
	kinds="$kinds with-$name cut-$name"
done
static="$(readelf -lS "$tmp/with-static" "$tmp/with-index")"
is "no .eh_frame_hdr in two of them" 0 \
	"$(echo "$static" | grep -c 'GNU_EH_FRAME\|eh_frame_hdr')"
is "no section headers" 4 "$(readelf -S "$tmp"/cut-* | grep -c 'no sections')"

# profile ARGUMENT...: of the profiler
profile() { "$O/examples/profiler" "$@" >"$tmp/stacks" 2>"$tmp/edges"; }
has_stacks() { [ "$(wc -l <"$tmp/stacks")" -ge 400 ]; }
# shellcheck disable=SC2329
try() {
	# Some are lost if it has no time to read them.
	until_enough "$(seq 20)" has_stacks profile "$@"
}

# judge: of the calls below which samples of work() are, and of what is above
# these. Each process has other addresses. Other programs run, too.
judge() {
	awk '
NR == FNR {
	if (NF == 2)
		caller[$1] = $2
	next
}
$3 in caller {
	all++
	below[$3]++
	base = ""
	for (i = 5; i < NF; i++)
		base = base " " $i
	if (!($1 in first))
		first[$1] = base
	if ($4 != caller[$3] || base != first[$1])
		print "bad", $0
	complete += $NF == "complete"
}
END {
	for (call in caller)
		print (below[call] >= 100 ? "many" : "few " below[call] + 0)
	print (complete == all ? "complete" : complete " of " all)
	for (pid in first)
		print split(first[pid], word, " ")
}' "$tmp/edges" "$tmp/stacks" >"$tmp/verdict"
}

# verdict NAME PROCESSES: of these
verdict() {
	judge
	is "$1: both callers, exact, and what is above them" \
		"$(seq "$2" | sed 's/.*/many many/' | tr '\n' ' ')complete" \
		"$(head -n $((2 * $2 + 1)) "$tmp/verdict" | tr '\n' ' ' |
			sed 's/ $//')"
	# __libc_start_call_main, __libc_start_main, _start
	is "$1: up to the entry of the program" "$(seq "$2" | sed 's/.*/3/')" \
		"$(tail -n "+$((2 * $2 + 2))" "$tmp/verdict")"
}

for name in edges-program plain compressed old static $kinds; do
	try "$tmp/$name" || skip_all "perf_event_open: $(cat "$tmp/edges")"
	verdict $name 1
	is "$name: almost all stacks are complete" "" "$(awk '
{ complete += $NF == "complete" }
END { if (complete < NR * 0.99) print complete, "of", NR }' "$tmp/stacks")"
done

# Processes of a process, on whatever CPU: the events of one are in several
# rings.
cat >"$tmp/many" <<END
#!/bin/sh
"$tmp/edges-program" & "$tmp/plain" & "$tmp/static" &
wait
END
chmod +x "$tmp/many"
try "$tmp/many"
verdict "three processes" 3

# One that ran before the events began: they say nothing of what it has mapped.
all() {
	"$tmp/plain" 2>"$tmp/before" &
	before=$!
	until [ "$(readlink "/proc/$before/exe")" = "$tmp/plain" ]; do
		:
	done
	profile -a "$tmp/edges-program"
	status=$?
	wait "$before"
	cat "$tmp/before" >>"$tmp/edges"
	return $status
}
if until_enough "$(seq 20)" has_stacks all; then
	verdict "all processes" 2
else
	skip "all processes" "only root can make: $(cat "$tmp/edges")"
fi

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
profile "$tmp/entry"
is "each stack ends where the program starts" "complete 2" \
	"$(awk '{ print $NF, NF - 2 }' "$tmp/stacks" | sort -u)"
is "a usage" "usage: profiler [-a] COMMAND [ARGUMENT...]" \
	"$("$O/examples/profiler" -a 2>&1)"
finish
