#!/bin/sh
# SPDX-License-Identifier: MIT
# SPDX-FileCopyrightText: 2026 The sfjit authors
#
# Description: --verify agrees with gas where gas is right, and names the
# place where it is silently wrong.

# shellcheck source=tests/lib/tap.sh
. "$(dirname "$0")/../lib/tap.sh"
# shellcheck source=tests/sframegen/common
. "$top/tests/sframegen/common"

as=$(new_tool as) || skip_all "$as"

options=
assemble() {
	{
		printf '\t.text\n\t.globl f\n\t.type f,@function\nf:'
		printf '\t.cfi_startproc\n\tnop\n'
		cat
		printf '\tret\n\t.cfi_endproc\n\t.size f,.-f\n'
	} >"$tmp/f.s"
	"$as" --gsframe -o "$tmp/f.o" "$tmp/f.s" 2>"$tmp/as"
}

# agrees NAME <CFI
agrees() {
	assemble || { not_ok "$1" "$(cat "$tmp/as")"; return; }
	works "$1" "$bin" --verify "$tmp/f.o"
}

# differs NAME PLACE OURS <CFI: at f+PLACE our side of the difference, under
# $options, is OURS
differs() {
	assemble || { not_ok "$1" "$(cat "$tmp/as")"; return; }
	# shellcheck disable=SC2086 # words
	"$bin" --verify "$tmp/f.o" $options >"$tmp/out" 2>&1
	_status=$?
	if [ $_status -ne 1 ]; then
		not_ok "$1" "status $_status: $(cat "$tmp/out")"
	elif grep -qF "f+$2: .sframe: " "$tmp/out" &&
		grep -F "f+$2: " "$tmp/out" | grep -qF "; CFI: $3"; then
		ok "$1"
	else
		not_ok "$1" "$("$as" --version | head -n 1): $(cat "$tmp/out")"
	fi
}

agrees "push and pop" <<'EOS'
	.cfi_def_cfa_offset 16
	.cfi_offset 6, -16
	nop
	.cfi_def_cfa_register 6
	nop
	.cfi_def_cfa 7, 8
	.cfi_restore 6
EOS
{
	drap_cfi
	echo '.cfi_restore 6'
} >"$tmp/drap"
agrees "DRAP" <"$tmp/drap"
agrees "undefined return address" <<'EOS'
	.cfi_undefined 16
EOS
agrees "return address elsewhere" <<'EOS'
	.cfi_offset 16, -24
EOS
agrees "signal frame" <<'EOS'
	.cfi_signal_frame
EOS
agrees "one remembered state" <<'EOS'
	.cfi_def_cfa_offset 16
	.cfi_remember_state
	nop
	.cfi_def_cfa_offset 8
	nop
	.cfi_restore_state
EOS

# What gas 2.47.50 gets wrong without a word.
differs "offset and register at one location" 0x1 "CFA=fp+16" <<'EOS'
	.cfi_def_cfa_offset 16
	.cfi_def_cfa_register 6
EOS
differs "nested remembered states" 0x7 "CFA=sp+8" <<'EOS'
	.cfi_remember_state
	.cfi_def_cfa_offset 16
	nop
	.cfi_def_cfa_offset 24
	nop
	.cfi_remember_state
	nop
	.cfi_def_cfa_offset 32
	nop
	.cfi_restore_state
	nop
	nop
	.cfi_restore_state
EOS
differs "return address saved after being undefined" 0x2 "CFA=sp+8" <<'EOS'
	.cfi_undefined 16
	nop
	.cfi_offset 16, -8
EOS
differs "return address restored after being undefined" 0x2 "CFA=sp+8" <<'EOS'
	.cfi_undefined 16
	nop
	.cfi_restore 16
EOS
differs "return address restored from a register" 0x2 "CFA=sp+8" <<'EOS'
	.cfi_register 16, 2
	nop
	.cfi_restore 16
EOS
differs "frame pointer at an expression of rsp" 0x1 "CFA=sp+8 FP=[sp+8]" <<'EOS'
	.cfi_escape 0x10,0x6,0x2,0x77,8
EOS
# gas writes no FDE for it.
differs "addend, in version 3" 0x0 "CFA=sp+8" <<'EOS'
	.cfi_escape 0xf,0x5,0x77,16,0x6,0x23,8
EOS
options="--format v3-addend"
differs "addend" 0x1 "CFA=[sp+16]+8" <<'EOS'
	.cfi_escape 0xf,0x5,0x77,16,0x6,0x23,8
EOS
options=
differs "saved stack pointer" 0x1 "nothing" <<'EOS'
	.cfi_offset 7, -24
EOS

# the difference is still in f.o
objcopy --redefine-sym f="$(printf 'f\033[2J\nx')" "$tmp/f.o"
"$bin" --verify "$tmp/f.o" >"$tmp/out" 2>&1
if grep -qF 'f\x1b[2J\x0ax+0x1: .sframe: ' "$tmp/out"; then
	ok "a name that a terminal would act on"
else
	not_ok "a name that a terminal would act on" "$(cat "$tmp/out")"
fi
objcopy --redefine-sym "$(printf 'f\033[2J\nx')=$(printf '%01001d' 0)" "$tmp/f.o"
"$bin" --verify "$tmp/f.o" >"$tmp/out" 2>&1
if grep -q ' 0\{1000\}+0x1: .sframe: ' "$tmp/out"; then
	ok "a name that fills the terminal"
else
	not_ok "a name that fills the terminal" "$(cut -c 1-200 "$tmp/out")"
fi

finish
