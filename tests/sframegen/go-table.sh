#!/bin/sh
# SPDX-License-Identifier: MIT
# SPDX-FileCopyrightText: 2026 The sfjit authors
#
# Description: rows from Go's table are those of the .debug_frame that Go writes, of
# the instructions, and of an execution, in programs of each kind.
#
# With arguments, these files are compared with their instructions instead, and only
# reported.

# shellcheck source=tests/lib/tap.sh
. "$(dirname "$0")/../lib/tap.sh"
# shellcheck source=tests/sframegen/common
. "$top/tests/sframegen/common"

# covered: bytes, all bytes and the percentage of the summary
covered() {
	sed -n 's/^without CFI: \([0-9]*\) of \([0-9]*\) bytes have rows from Go.*(\([0-9.]*\) %)/\1 \2 \3/p' \
		"$tmp/summary"
}

if [ $# -gt 0 ]; then
	for file; do
		convert "$file" || continue
		"$programs/code-rows" "$file" 3 >"$tmp/out" 2>&1
		ok "$file: $(covered | cut -d ' ' -f 3) % have rows; by their\
 instructions: $(tail -n 1 "$tmp/out")"
		sed 's/^/# /' "$tmp/out"
	done
	finish
fi

go=${SFJIT_GOLANG:-$(tools/golang 2>/dev/null)} ||
	skip_all "no programs of Go (SFJIT_GOLANG or tools/golang)"

# At least so many thousandths of a percent have rows.
rows_of() {
	convert "$2" || return
	if covered | awk '{ exit !($3 * 1000 >= 99800) }'; then
		ok "$1: $(covered | cut -d ' ' -f 3) % have rows"
	else
		not_ok "$1: code with rows" "$(cat "$tmp/summary")"
	fi
}

# without_sections FILE: e_shoff, e_shnum and e_shstrndx become 0.
without_sections() {
	strip -o "$tmp/bare" "$1"
	dd if=/dev/zero of="$tmp/bare" bs=1 seek=40 count=8 conv=notrunc \
		2>/dev/null
	dd if=/dev/zero of="$tmp/bare" bs=1 seek=60 count=4 conv=notrunc \
		2>/dev/null
}

for version in 1.19 1.24; do
	for kind in static pie cgo cgo-pie; do
		rows_of "$kind, Go $version" "$go/$kind-$version"
		without_sections "$go/$kind-$version"
		convert "$tmp/bare" || continue
		is "$kind, Go $version, without section headers: rows of so\
 many bytes" "$(covered | cut -d ' ' -f 1)" \
			"$("$bin" --elf "$go/$kind-$version" -o "$tmp/out" |
				sed -n 's/^without CFI: \([0-9]*\) .*Go.*/\1/p')"
	done
	for kind in static cgo-pie; do
		"$programs/code-rows" "$go/$kind-$version" 3 >"$tmp/out"
		is "$kind, Go $version: rows that the instructions contradict" \
			0 $?
		sed 's/^/# /' "$tmp/out"
	done
done

# differ VERSION: bytes whose CFA is another one in .debug_frame
differ() {
	"$programs/go-cfi" "$go/static-$1" >"$tmp/out"
	sed -n 's/.*, \([0-9]*\) differ$/\1/p' "$tmp/out"
}

is "Go 1.24: bytes that differ from .debug_frame" 0 "$(differ 1.24)"
sed 's/^/# /' "$tmp/out"
# asmcgocall() moves the stack pointer by sub, which Go's assembler does not see.
is "Go 1.19: in asmcgocall(), .debug_frame and the table leave out a sub" 34 \
	"$(differ 1.19)"
sed 's/^/# /' "$tmp/out"

# The judge sees threads and signals only where they do not race for breakpoints.
export GOMAXPROCS=1 GODEBUG=asyncpreemptoff=1
for version in 1.19 1.24; do
	strip -o "$tmp/program" "$go/static-$version"
	"$programs/step-rows" -v 1 -n 300 "$tmp/program" 2 compute memory table \
		garbage clock calls channel >"$tmp/out" 2>&1
	is "Go $version: each row finds the caller, by execution" 0 $?
	sed 's/^/# /' "$tmp/out"
	is "Go $version: and many were tried" 1 \
		"$(awk '/^program: derived/ { print ($3 > 20000) }' "$tmp/out")"
done

strip -o "$tmp/bare" "$go/static-1.24"
"$bin" --elf "$tmp/bare" --cfi-only -o "$tmp/out" 2>"$tmp/err"
is "with --cfi-only there is nothing" \
	"sframegen: $tmp/bare: 0x0: no call frame information" \
	"$(cat "$tmp/err")"
finish
