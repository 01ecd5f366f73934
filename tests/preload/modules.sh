#!/bin/sh
# SPDX-License-Identifier: MIT
# SPDX-FileCopyrightText: 2026 The sfjit authors
#
# Description: sfjit run makes tables of all modules of a process, those of
# dlopen() too, and leaves the behaviour of dlopen() alone.

# shellcheck source=tests/lib/tap.sh
. "$(dirname "$0")/../lib/tap.sh"
# shellcheck source=tests/preload/lib.sh
. "$top/tests/preload/lib.sh"

load() {
	register "$run/loader" "$@" >"$tmp/out"
}

load keep "$run/plugin1.so" "$run/plugin2.so"
is "dlopen" "1 2" "$(tr '\n' ' ' <"$tmp/out" | sed 's/ $//')"
for module in /programs/loader /libc.so.6 /ld-linux /libsfjit-preload.so \
	/programs/plugin1.so /programs/plugin2.so linux-vdso.so.1; do
	like "one window for $module" "registered *$module*windows=1 *" \
		"$(logged "$module" | grep -v ^follows)"
done
is "no module twice" "" "$(sed -n 's/.* registered \([^ ]*\) .*/\1/p' "$log" |
	sort | uniq -d)"

# rows TABLE: all rows except those of an entry
rows() {
	"$top/build/bin/sframegen" --dump "$1" | grep '^0x' |
		grep -v 'CFA=sp+8$'
}

# The cached table equals the command's table of the file without the symbols that
# the module does not see, plus leaves of crti.o. Constants of plugin-mixed.so look
# like code; what a function of plugin-assembly.so does is certain by its name only.
load keep "$run/plugin-mixed.so" "$run/plugin-assembly.so"
for file in loader plugin1.so plugin-mixed.so plugin-assembly.so; do
	name="table of $file is sframegen's"
	if ! "$top/build/bin/sframegen" --elf "$run/stripped/$file" \
		--format packed -o "$tmp/table" \
		>"$tmp/out" 2>&1; then
		skip "$name" "sframegen does not run here"
		continue
	fi
	rows "$tmp/table" >"$tmp/rows"
	rows "$(table_of $file)" >"$tmp/cached"
	same "$name" "$tmp/rows" "$tmp/cached"
	works "rows of $file" test -s "$tmp/rows"
done

load keep "$run/plugin-gap.so"
like "a gap without CFI parts windows" "*windows=2 *" "$(logged plugin-gap)"
for source in converted cache; do
	load keep "$run/plugin-gaps.so"
	like "a hundred gaps part as many windows, $source" \
		"registered *windows=101 *source=$source*" \
		"$(logged plugin-gaps)"
done
load keep "$run/plugin-sparse.so"
like "where most has no CFI, each function has a window" \
	"registered *windows=2[1-9] *" "$(logged plugin-sparse)"
load keep "$run/plugin-bare.so"
is "a library without _init" 4 "$(cat "$tmp/out")"
like "is found all the same" "registered *" "$(logged plugin-bare)"
load keep "$run/plugin-anonymous.so"
like "a library without build-id" "registered *source=converted*" \
	"$(logged plugin-anonymous)"
load keep "$run/plugin-anonymous.so"
like "a library without build-id, again" "registered *source=cache*" \
	"$(logged plugin-anonymous)"

load keep "$run/plugin-debug.so"
is "a library with .debug_frame alone" 11 "$(cat "$tmp/out")"
like "has a window" "registered *windows=1 *source=converted*" \
	"$(logged plugin-debug)"
"$top/build/bin/sframegen" --elf "$run/plugin-debug.so" --format packed \
	-o "$tmp/table" >"$tmp/out"
rows "$tmp/table" >"$tmp/rows"
rows "$(table_of plugin-debug.so)" >"$tmp/cached"
same "and sframegen's rows" "$tmp/rows" "$tmp/cached"
works "rows of plugin-debug.so" test -s "$tmp/rows"
load keep "$run/plugin-debug.so"
like "a library with .debug_frame alone, again" \
	"registered *windows=1 *source=cache*" "$(logged plugin-debug)"
load keep "$run/plugin-mono.so"
is "code of Mono without CFI" 12 "$(cat "$tmp/out")"
like "is skipped" "skipped *neither .eh_frame_hdr nor .eh_frame*" \
	"$(logged plugin-mono)"
is "and ends stacks" 1 "$(grep -c ' ends jit:' "$log")"

# repeat LINES FILE...: expects LINES in the log about the first file, once for
# each time that another file was in its place.
repeat() {
	lines=$1
	shift
	load repeat 1000 "$@"
	is "1000 times $(basename "$1") ($#): nothing left" \
		"mappings +0 bytes +0" "$(head -n 1 "$tmp/out")"
	is "1000 times $(basename "$1") ($#): seen" "$lines" \
		"$(logged "$(basename "$1")" | grep -c ^registered)"
}

repeat 1 "$run/plugin1.so"
repeat 1 "$run/plugin-anonymous.so"
repeat 1010 "$run/plugin-anonymous.so" "$run/plugin1.so"
repeat 1010 "$run/plugin1.so" "$run/plugin2.so"
repeat 1010 "$run/plugin-gap.so" "$run/plugin-bare.so"
repeat 1010 "$run/plugin-gaps.so" "$run/plugin-bare.so"
repeat 1010 "$run/plugin-debug.so" "$run/plugin1.so"

# again COUNT HOW...: so often the library has its windows again
again() {
	count=$1
	shift
	register "$run/remap" "$run/plugin-gap.so" "$@" >"$tmp/out"
	is "text that is mapped over itself ($*): the program" 3 \
		"$(tail -n 1 "$tmp/out")"
	is "text that is mapped over itself ($*): again" "$count" \
		"$(grep -c ' again text:' "$log")"
}
for how in map move part; do
	again 1 $how
done
again 3 move part map
# It is compared with what was there when it had windows.
again 0 other
again 0 other move

# When a file is replaced, its windows have gone with its text. A window with
# the same key belongs to another producer.
(
	export LD_PRELOAD="$run/formats.so" FORMATS=16 UNREGISTERED="$tmp/gone"
	load repeat 1 "$run/plugin1.so" "$run/plugin2.so"
	BUSY=1 load repeat 1 "$run/plugin1.so" "$run/plugin2.so"
)
is "files at one place: no window is unregistered" "" \
	 "$(cat "$tmp/gone" 2>/dev/null)"

# A library with a JIT: its function is diverted at each load.
repeat 1 "$run/plugin-gdb.so"
is "1000 times a library with gdb's interface: followed" 1010 \
	"$(grep -c 'follows .*plugin-gdb.so:__jit_debug_register_code' "$log")"
is "and its calls are noticed" 1010 \
	"$(grep -c "skipped jit:10: an entry of gdb's list is not" "$log")"
repeat 1 "$run/plugin-jit.so"
is "and code that it publishes has a window" 1010 \
	"$(grep -c ' registered jit:[0-9a-f]* windows=1 ' "$log")"

register "$run/user-plugin" >"$tmp/out"
is "dlopen by the RUNPATH of the caller" 6 "$(cat "$tmp/out")"
like "and its library has a table" "registered *" "$(logged libhidden)"
for how in namespace thread fork; do
	load $how "$run/plugin1.so"
	is "dlopen in a $how" "1 0" "$(cat "$tmp/out") $?"
done
like "dlopen in a fork is followed" "registered *" "$(logged plugin1)"
load seccomp "$run/plugin1.so"
status=$?
if [ $status = 77 ]; then
	skip "a filter that kills for prctl" "no seccomp here"
else
	is "a filter that kills for prctl" "1 0" "$(cat "$tmp/out") $status"
	like "is respected" "skipped *seccomp filter installed*" "$(logged later)"
fi

# An .eh_frame that is no call frame information, and a new build-id.
rm -rf "$tables"
load keep "$run/plugin-broken.so"
is "broken .eh_frame: the program runs" "2 0" "$(cat "$tmp/out") $?"
like "broken .eh_frame: reported" "skipped *" "$(logged plugin-broken)"
finish
