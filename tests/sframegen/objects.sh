#!/bin/sh
# SPDX-License-Identifier: MIT
# SPDX-FileCopyrightText: 2026 The sfjit authors
#
# Description: in object files, a function whose address no relocation resolves
# takes nobody's place, neither in tables nor in what --verify compares.

export LC_ALL=C
# shellcheck source=tests/lib/tap.sh
. "$(dirname "$0")/../lib/tap.sh"
bin=$O/bin/sframegen
cd "$tmp" || exit 1

# assemble FILE <SOURCE
assemble() {
	"${CC:-cc}" -c -x assembler -o "$1" -
}
# code NAME OFFSET: one whose only row has the CFA at this offset
code() {
	printf '\t.type %s,@function\n%s:\t.cfi_startproc simple\n' "$1" "$1"
	printf '\t.cfi_def_cfa 7,%d\n\t.cfi_offset 16,-8\n' "$2"
	printf '\tnop\n\tret\n\t.cfi_endproc\n\t.size %s, .-%s\n' "$1" "$1"
}
# rows NAME FILE WANT: of its functions, "ADDRESS CFA" each
rows() {
	if ! "$bin" --elf "$2" -o section >out 2>err; then
		not_ok "$1" "$(cat err)"
		return
	fi
	is "$1" "$3" "$("$bin" --dump section |
		sed -n 's/^  \(0x[0-9a-f]*\): CFA=/\1 /p' | tr '\n' ' ')"
}
# unresolved NAME NUMBER: as the summary in 'out' says
unresolved() {
	is "$1: the summary names them" \
		"0 bytes in $2 functions: address that no relocation resolves" \
		"$(sed -n 's/^not covered: //p' out)"
}

# A section's index has 16 bits in a symbol, and those from 0xff00 on are marks.
{
	code first 8
	seq -f '	.section .text.%.0f,"ax"' 1 65400
	code last 16
} | assemble many.o
rows "more than 65,280 sections" many.o "0x0 sp+8 0xff7802 sp+16 "
"$bin" --elf many.o -o section >out
is "all of their functions are covered" "functions: 2 of 2 covered" \
	"$(head -n 1 out)"
rm many.o

{
	code first 8
	echo '	.section aside,"x",@progbits'
	code second 16
} >aside.s
assemble aside.o <aside.s
rows "a function in a section that is not loaded" aside.o "0x0 sp+8 "
unresolved "a section that is not loaded" 1
{
	echo '	.cfi_sections .debug_frame'
	cat aside.s
} | assemble aside.o
rows "the same by .debug_frame" aside.o "0x0 sp+8 "
unresolved "the same by .debug_frame" 1

# What the linker did with copies of inline functions: R_X86_64_NONE.
# none FILE SECTION INDEX: a relocation of the section becomes one
none() {
	_at=$(readelf -SW "$1" | sed -n "s/.* \.rela\.$2 *RELA *[0-9a-f]* //p" |
		cut -d' ' -f1)
	printf '\0\0\0\0\0\0\0\0' | dd of="$1" bs=1 conv=notrunc \
		seek=$((0x$_at + 24 * $3 + 8)) 2>/dev/null
}
for section in .eh_frame .debug_frame; do
	{
		echo "	.cfi_sections $section"
		code first 8
		code second 16
	} | assemble dropped.o
	# in .debug_frame each FDE has one to its CIE first
	case $section in .eh_frame) index=1 ;; *) index=3 ;; esac
	none dropped.o "${section#.}" $index
	rows "$section: a relocation to nothing" dropped.o "0x0 sp+8 "
	unresolved "$section: a relocation to nothing" 1
done
{
	code first 8
	echo '	.weak absent'
	echo '	.section .eh_frame,"a"'
	# a CIE of its own, and an FDE of a function that is elsewhere
	echo '	.long 13, 0; .byte 1; .asciz ""; .byte 1, 0x78, 16, 12, 7, 24, 0'
	echo '	.long 20, 21; .quad absent, 2'
} | assemble weak.o
rows "a function of another file" weak.o "0x0 sp+8 "

# More than one section of CFI, the first of which has a terminator, or none.
for end in "" ".long 0"; do
	{
		code first 8
		code third 24
		echo "	.section .eh_frame,\"a\""
		echo "	$end"
		echo '	.section .text.second,"axG",@progbits,second,comdat'
		echo 'second:	nop; ret'
		echo '	.section .eh_frame,"aG",@progbits,second,comdat'
		echo '	.long 14, 0; .byte 1; .asciz ""'
		echo '	.byte 1, 0x78, 16, 12, 7, 16, 0x90, 1'
		echo '	.long 20, 22; .quad second, 2'
	} | assemble two.o 2>err
	rows "two sections of CFI${end:+, a terminator}" two.o \
		"0x0 sp+8 0x2 sp+24 0x104 sp+16 "
done

# as sh_type of a relocation section: SHT_REL, and SHT_CREL of LLVM
for type in rel crel; do
	{
		code first 8
		code second 16
	} | assemble other.o
	header=$(readelf -hW other.o |
		sed -n 's/.*Start of section headers: *\([0-9]*\).*/\1/p')
	index=$(readelf -SW other.o |
		sed -n 's/^ *\[ *\([0-9]*\)\] \.rela\.eh_frame .*/\1/p')
	case $type in rel) bytes='\011\0\0\0' ;; *) bytes='\024\0\0\100' ;; esac
	# shellcheck disable=SC2059 # octal is for the format
	printf "$bytes" | dd of=other.o bs=1 conv=notrunc \
		seek=$((header + 64 * index + 4)) 2>/dev/null
	"$bin" --elf other.o -o section >out 2>err
	is "relocations of another form: status" 1 $?
	case $(cat err) in
	"sframegen: other.o: 0x"*": relocations are not in the form SHT_RELA"*)
		ok "relocations of another form: message" ;;
	*) not_ok "relocations of another form: message" "$(cat err)" ;;
	esac
done

# The same in a section that the assembler made; .sframe is put together here:
# the index entries of two functions with one row each, of 8 and of 16.
# entry NAME ROWS: with the relocation of an assembler
entry() {
	printf '\t.quad %s - .\n\t.long 2, %d\n' "$1" "$2"
}
{
	code first 8
	code second 16
	echo '	.section .sframe,"a"'
	echo '	.byte 0xe2, 0xde, 3, 4, 3, 0, 0xf8, 0'
	echo '	.long 2, 2, 16, 0, 32'
	entry first 0
	entry second 8
	echo '	.byte 1, 0, 0, 0, 0, 0, 3, 8, 1, 0, 0, 0, 0, 0, 3, 16'
} | assemble both.o
"$bin" --verify both.o >out 2>err
is "verify" "0 both.o: 2 rows compared, 0 differences" "$? $(cat out err)"
none both.o sframe 1
none both.o eh_frame 1
"$bin" --verify both.o >out 2>err
is "verify of functions without an address" "0 both.o: 1 rows compared, 0\
 differences both.o: not compared, as no relocation resolves their address: 1\
 functions of .sframe, 1 of the CFI" "$? $(tr '\n' ' ' <out | sed 's/ $//')"
is "dump of a function without an address" \
	"FDE 1: address not resolved, 0x2 bytes 1 rows" \
	"$("$bin" --dump both.o | grep 'FDE 1')"
none both.o sframe 0
"$bin" --verify both.o >out 2>err
is "verify of a function that one side knows" \
	"1 both.o: first+0x0: .sframe: nothing; CFI: CFA=sp+8" \
	"$? $(head -n 1 out)"
finish
