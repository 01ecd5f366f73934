#!/bin/sh
# SPDX-License-Identifier: MIT
# SPDX-FileCopyrightText: 2026 The sfjit authors
#
# Description: a function with the signal mark that is called keeps its rows, one
# whose return address a handler's return finds has none.

# shellcheck source=tests/lib/tap.sh
. "$(dirname "$0")/../lib/tap.sh"

# convert NAME <CFI: the FDE and its rows
convert() {
	{
		printf '\t.text\n\t.globl %s\n\t.type %s,@function\n' "$1" "$1"
		printf '%s:\t.cfi_startproc\n\t.cfi_signal_frame\n' "$1"
		cat
		printf '\tret\n\t.cfi_endproc\n\t.size %s,.-%s\n' "$1" "$1"
	} >"$tmp/$1.s"
	"${CC:-gcc}" -c -o "$tmp/$1.o" "$tmp/$1.s" &&
		"${CC:-gcc}" -shared -nostdlib -o "$tmp/$1.so" "$tmp/$1.o" &&
		"$O/bin/sframegen" --elf "$tmp/$1.so" -o "$tmp/$1.sframe" \
			>"$tmp/out" &&
		"$O/bin/sframegen" --dump "$tmp/$1.sframe" >"$tmp/dump"
}

tools/make -s build/bin/sframegen
convert called <<'END'
	push %rbx
	.cfi_adjust_cfa_offset 8
	nop
	pop %rbx
	.cfi_adjust_cfa_offset -8
END
is "a function that is called has its rows, with the mark" "1 3" \
	"$(grep -c '^FDE .* signal' "$tmp/dump") $(grep -c 'CFA=' "$tmp/dump")"
# CFA = *(rsp + 160), return address at rsp + 168
convert handler <<'END'
	.cfi_escape 0x0f, 4, 0x77, 0xa0, 0x01, 0x06
	.cfi_escape 0x10, 16, 3, 0x77, 0xa8, 0x01
	nop
END
is "the return from a handler has the mark and no rows" "1 0" \
	"$(grep -c '^FDE .* signal' "$tmp/dump") $(grep -c 'CFA=' "$tmp/dump")"
finish
