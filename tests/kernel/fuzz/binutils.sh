#!/bin/sh
# SPDX-License-Identifier: MIT
# SPDX-FileCopyrightText: 2026 The sfjit authors
#
# Description: the kernel's code registers each section that gas and ld make, and
# finds a row for each address of its functions.

# shellcheck source=tests/lib/tap.sh
. "$(dirname "$0")/../../lib/tap.sh"

tools/make -s build/tests/kernel/fuzz/kernel-accepts
as=$(tools/binutils as) || skip_all "no gas that writes SFrame V3 here"
ld=$(tools/binutils ld) || skip_all "no ld that writes SFrame V3 here"

# define NAME <BODY
define() {
	printf '\t.globl %s\n\t.type %s,@function\n%s:\n\t.cfi_startproc\n' \
		"$1" "$1" "$1"
	cat
	printf '\t.cfi_endproc\n\t.size %s,.-%s\n' "$1" "$1"
}

# pushes ROWS [BYTES]: a function with so many rows, and so many bytes between
pushes() {
	awk -v rows="$1" -v bytes="${2:-0}" 'BEGIN {
		for (i = 1; i < rows; i++) {
			print "\tpush %rax\n\t.cfi_adjust_cfa_offset 8"
			if (bytes)
				print "\t.skip " bytes ", 0x90"
		}
		print "\tret"
	}'
}

# address SECTION START|END: of a section of $tmp/made
address() {
	readelf -SW "$tmp/made" | sed 's/^ *\[[^]]*\]//' |
		awk -v name="$1" '$1 == name { print $3, $5 }' | {
		read -r _at _size
		[ "$2" = START ] && echo "$_at" || printf '%x\n' $((0x$_at + 0x$_size))
	}
}

# accepts NAME FUNCTIONS SOURCE...: linked, the section has so many functions
accepts() {
	_name=$1 _nr=$2 _objects=''
	shift 2
	for _source; do
		"$as" --64 --gsframe -o "$_source.o" "$_source" 2>"$tmp/as" ||
			{ not_ok "$_name" "$(cat "$tmp/as")"; return; }
		_objects="$_objects $_source.o"
	done
	# shellcheck disable=SC2086 # words
	"$ld" -shared -z noexecstack -o "$tmp/made" $_objects 2>"$tmp/ld" ||
		{ not_ok "$_name" "$(cat "$tmp/ld")"; return; }
	objcopy --dump-section .sframe="$tmp/sframe" "$tmp/made" "$tmp/copy"
	_first=$(address .plt START)
	_start=${_first:-$(address .text START)}
	_end=$(address .text END)
	_said=$("$O/tests/kernel/fuzz/kernel-accepts" "$tmp/sframe" \
		"$(address .sframe START)" "$_start" \
		"$(printf '%x' $((0x$_end - 0x$_start)))" 2>&1)
	like "$_name" "$_nr functions, [1-9]* addresses, 0 without a row" "$_said"
}

# one NAME <BODY: a function
one() {
	define f >"$tmp/f.s"
	accepts "$1" 1 "$tmp/f.s"
}

one "no row but the first" <<'EOS'
	nop
	ret
EOS
one "a frame pointer" <<'EOS'
	push %rbp
	.cfi_def_cfa_offset 16
	.cfi_offset 6, -16
	mov %rsp, %rbp
	.cfi_def_cfa_register 6
	pop %rbp
	.cfi_def_cfa 7, 8
	ret
EOS
one "offsets of two bytes" <<'EOS'
	sub $0x400, %rsp
	.cfi_adjust_cfa_offset 0x400
	add $0x400, %rsp
	.cfi_adjust_cfa_offset -0x400
	ret
EOS
one "offsets of four bytes" <<'EOS'
	sub $0x123450, %rsp
	.cfi_adjust_cfa_offset 0x123450
	add $0x123450, %rsp
	.cfi_adjust_cfa_offset -0x123450
	ret
EOS
one "remembered states" <<'EOS'
	push %rbx
	.cfi_adjust_cfa_offset 8
	.cfi_remember_state
	pop %rbx
	.cfi_adjust_cfa_offset -8
	ret
	.cfi_restore_state
	pop %rbx
	ret
EOS
one "a function with the signal bit" <<'EOS'
	.cfi_signal_frame
	nop
	ret
EOS
one "an undefined return address" <<'EOS'
	.cfi_undefined 16
	nop
	hlt
EOS
one "a realigned stack" <<'EOS'
	lea 8(%rsp), %r10
	.cfi_def_cfa 10, 0
	and $-32, %rsp
	push -8(%r10)
	push %rbp
	.cfi_escape 0x10,0x6,0x2,0x76,0
	mov %rsp, %rbp
	push %r10
	.cfi_escape 0xf,0x3,0x76,0x78,0x6
	pop %r10
	.cfi_def_cfa 10, 0
	pop %rbp
	lea -8(%r10), %rsp
	.cfi_def_cfa 7, 8
	ret
EOS

# Long functions, and sections of several parts: ld merges these and adds rows of
# the PLT.
for rows in 64 65 175 1000 5000; do
	pushes $rows | define f >"$tmp/f.s"
	accepts "a function of $rows rows" 1 "$tmp/f.s"
done
pushes 4 200 | define f >"$tmp/f.s"
accepts "rows that start at two bytes" 1 "$tmp/f.s"
pushes 4 40000 | define f >"$tmp/f.s"
accepts "rows that start at four bytes" 1 "$tmp/f.s"
pushes 3 | define f >"$tmp/f.s"
pushes 200 | define g >"$tmp/g.s"
accepts "two objects" 2 "$tmp/f.s" "$tmp/g.s"
{ echo '	.section .text.g,"ax"'; pushes 5 | define g; } >"$tmp/g.s"
{ pushes 3 | define f; echo '	.section .text.h,"ax"'; pushes 7 | define h; } >"$tmp/f.s"
accepts "a section for each function" 3 "$tmp/f.s" "$tmp/g.s"
printf '\tcall a@plt\n\tcall b@plt\n\tret\n' | define f >"$tmp/f.s"
accepts "a PLT" 3 "$tmp/f.s"
finish
