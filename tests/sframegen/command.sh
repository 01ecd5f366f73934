#!/bin/sh
# SPDX-License-Identifier: MIT
# SPDX-FileCopyrightText: 2026 The sfjit authors
#
# The sframegen command: usage, messages, output files.

export LC_ALL=C
# shellcheck source=tests/lib/tap.sh
. "$(dirname "$0")/../lib/tap.sh"
bin=$O/bin/sframegen
tiny=$O/obj/tests/sframegen/tiny.so
page=$top/Documentation/man/sframegen.1
mkdir "$tmp/here"
cd "$tmp/here" || exit 1

# expect NAME STATUS MESSAGE ARGS...: MESSAGE is a pattern for standard error
expect() {
	_name=$1 _status=$2 _message=$3
	shift 3
	"$bin" "$@" >out 2>err
	_got=$?
	_err=$(cat err)
	if [ $_got -ne "$_status" ]; then
		not_ok "$_name" "status $_got, message: $_err"
		return
	fi
	# shellcheck disable=SC2254
	case $_err in
	$_message) ok "$_name" ;;
	*) not_ok "$_name" "message: $_err" ;;
	esac
}

cp "$tiny" tiny.so

# usage NAME MISTAKE ARGS...: one line that says what is wrong
usage() {
	_name=$1 _mistake=$2
	shift 2
	expect "$_name" 2 "sframegen: $_mistake; try 'sframegen --help'" "$@"
	is "$_name: one line" 1 "$(wc -l <err)"
}

usage "no command" "no command"
usage "unknown option" "unknown option '--frobnicate'" --frobnicate
usage "unknown letter" "unknown option '-z'" -z
usage "ambiguous option" "unknown option '--ver'" --ver
usage "option without its argument" "no argument after '--elf'" --elf
usage "letter without its argument" "no argument after '-o'" -o
usage "two commands" "one command at a time" --dump a --elf b -o c
usage "no output" "-o is missing" --elf tiny.so
usage "argument left over" "unexpected argument 'more'" \
	--elf tiny.so -o out.sframe more
usage "bad address" "--at needs an address, not 'twelve'" \
	--elf tiny.so --at twelve -o x
usage "bad row limit" \
	"--max-rows needs a number from 1 to 65535, not '0'" \
	--elf tiny.so --max-rows 0 -o x
usage "bad format" "--format needs v3, v3-addend or packed, not 'v4'" \
	--elf tiny.so --format v4 -o x
usage "verification of a packed table" \
	"--verify is for sections, not --format 'packed'" \
	--verify tiny.so --format packed
usage "argument that a terminal would act on" \
	"unexpected argument '\\\\x1b\\[2J'" "$(printf '\033[2J')"
expect "version" 0 "" --version
number() {
	sed -n "s/^#define SFJIT_VERSION_$1[[:space:]]*//p" \
		"$top/sframegen/include/sfjit/version.h"
}
is "the version is that of the headers" \
	"sframegen $(number MAJOR).$(number MINOR)" "$(cat out)"
expect "help" 0 "" --help
is "the manual page has the same options" \
	"$(grep -oe '--[a-z][a-z-]*' out | sort -u)" \
	"$(sed 's/\\-/-/g' "$page" | grep -oe '--[a-z][a-z-]*' | sort -u)"
expect "convert" 0 "" --elf tiny.so -o tiny.sframe
is "coverage is printed" "functions: 4 of 4 covered" "$(head -n 1 out)"
expect "dump of a raw section" 0 "" --dump tiny.sframe
grep -q 'CFA=fp+16 FP=\[CFA-16\]' out || not_ok "dump" "no frame pointer row"
cp out at0
expect "format v3" 0 "" --elf tiny.so --format v3 -o v3.sframe
same "format v3 is the default" tiny.sframe v3.sframe
expect "no addends in the CFI" 0 "" --elf tiny.so --format v3-addend \
	-o addend.sframe
same "no addends in the section" tiny.sframe addend.sframe
rm v3.sframe addend.sframe
expect "packed table" 0 "" --elf tiny.so --format packed -o tiny.packed
is "size of the table" "$(wc -c <tiny.packed)" "$(sed -n \
	's/^table: \([0-9]*\) bytes, [0-9]* rules, [12] buckets, .*/\1/p' out)"
is "what it is in proportion to" 1 "$(grep -c '^CFI: .*; table is ' out)"
expect "dump of a packed table" 0 "" --dump tiny.packed
cp out packed
like "head of the dump" "packed table version 1, ABI AMD64, text 0x*-0x*" \
	"$(head -n 1 packed)"
# the rows of the section, without their addresses; only the table has rbx
is "rows of the dump" \
	"$(sed -n 's/^  0x[0-9a-f]*: //p' at0 | uniq)" \
	"$(sed -n 's/ rbx.*//; s/^0x[0-9a-f]*-0x[0-9a-f]*: //p' packed | uniq)"
like "rbx in the dump" "*CFA=sp+16 FP=[[]CFA-16] rbx kept*" "$(cat packed)"
head -c 60 tiny.packed >cut.packed
expect "truncated packed table" 1 \
	"sframegen: cut.packed: 0x14: table is truncated" --dump cut.packed
printf '\377' | dd of=tiny.packed bs=1 seek=32 conv=notrunc 2>/dev/null
expect "damaged packed table" 1 \
	"sframegen: tiny.packed: 0x20: rule 0 is not that nothing is known" --dump tiny.packed
rm packed cut.packed tiny.packed
expect "section at an address" 0 "" --elf tiny.so --at 0x100000 -o at.sframe
expect "dump at an address" 0 "" --dump at.sframe --at 0x100000
is "addresses do not depend on where the section is" "$(cat at0)" \
	"$(cat out)"

expect "no such file" 1 "sframegen: absent: No such file or directory" \
	--elf absent -o x
expect "directory" 1 "sframegen: .: *" --elf . -o x
expect "directory, by that name" 1 "sframegen: .: is a directory" \
	--elf . -o x
mkfifo fifo
expect "FIFO" 1 "sframegen: fifo: *" --elf fifo -o x
for command in --elf --template --dump --verify; do
	expect "$command of a FIFO, by that name" 1 \
		"sframegen: fifo: is a FIFO" $command fifo -o x
done
expect "device" 1 "sframegen: /dev/null: is not a regular file" \
	--dump /dev/null
odd=$(printf 'o\033[2Jd\351\nd')
echo text > "$odd"
escaped='o\\x1b\[2Jd\\xe9\\x0ad'
expect "file name that a terminal would act on" 1 \
	"sframegen: $escaped: 0x0: not an ELF file" --elf "$odd" -o x
expect "such a name of a file that is not there" 1 \
	"sframegen: no$escaped: No such file or directory" --dump "no$odd"
expect "such a name of an output" 1 \
	"sframegen: none/$escaped: No such file or directory" \
	--elf tiny.so -o "none/$odd"
rm "$odd"
echo text > text
expect "not ELF" 1 "sframegen: text: 0x0: not an ELF file" --elf text -o x
expect "not a section" 1 "sframegen: text: 0x5: SFrame header is truncated" \
	--dump text
# byte 4: class, byte 18: machine
cp tiny.so class32
printf '\001' | dd of=class32 bs=1 seek=4 conv=notrunc 2>/dev/null
expect "32-bit file" 1 "sframegen: class32: 0x4: not a 64-bit ELF file" \
	--elf class32 -o x
cp tiny.so riscv
printf '\363' | dd of=riscv bs=1 seek=18 conv=notrunc 2>/dev/null
expect "machine without an ABI" 1 \
	"sframegen: riscv: 0x12: SFrame has no ABI number for RISC-V" \
	--elf riscv -o x
expect "machine without one, under a number for trials" 0 "*" \
	--elf riscv --trial-abi -o trial
is "the number is in the header" "ff" \
	"$(od -An -tx1 -j4 -N1 trial | tr -d ' ')"
is "the section is read as of that machine" "SFrame version 3, ABI RISC-V" \
	"$("$bin" --dump trial | sed -n '1s/, flags.*//p')"
rm trial
expect "machine with one keeps it" 0 "*" --elf tiny.so --trial-abi -o kept
is "its section is the same" "$(cksum <tiny.sframe)" "$(cksum <kept)"
rm kept
cp tiny.so mips
printf '\010' | dd of=mips bs=1 seek=18 conv=notrunc 2>/dev/null
expect "machine that is not known" 1 \
	"sframegen: mips: 0x12: no SFrame ABI for MIPS (machine 8, little-endian)" \
	--elf mips -o x
printf '\377\377' | dd of=mips bs=1 seek=18 conv=notrunc 2>/dev/null
expect "machine without a name" 1 "sframegen: mips: 0x12: no SFrame ABI for an\
 unknown machine (machine 65535, little-endian)" --elf mips -o x
expect "library without .sframe" 1 \
	"sframegen: tiny.so: 0x0: no .sframe section" --dump tiny.so
expect "template of a library" 1 \
	"sframegen: tiny.so: 0x10: not an object file" --template tiny.so -o x
is "failures leave nothing" "$(printf '%s\n' \
	at.sframe at0 class32 err fifo mips out riscv text tiny.sframe tiny.so)" "$(ls)"

mkdir closed
if [ "$(id -u)" -ne 0 ]; then
	chmod a-w closed
	expect "directory that cannot be written" 1 "sframegen: closed/x: *" \
		--elf tiny.so -o closed/x
fi
expect "directory that is not there" 1 "sframegen: none/x: No such file*" \
	--elf tiny.so -o none/x
expect "/dev/full" 1 "sframegen: /dev/full: No space left*" \
	--elf tiny.so -o /dev/full
[ -c /dev/full ] || not_ok "/dev/full" "replaced by a file"
expect "/dev/null" 0 "" --elf tiny.so -o /dev/null
[ -c /dev/null ] || not_ok "/dev/null" "replaced by a file"
if "$bin" --elf tiny.so -o y >/dev/full 2>/dev/null; then
	not_ok "summary to a full disk" "status 0"
else
	ok "summary to a full disk"
fi

# code without CFI is counted, and never all is covered where there is some
# bare LENGTH: of a covered function, before 12 bytes of code without CFI
bare() {
	"${CC:-cc}" -shared -nostdlib -x assembler -o bare.so - <<-EOS
		.text
		.cfi_startproc
		.skip $1, 0x90
		.cfi_endproc
		.skip 14, 0x90
		push %rbx
		mov %rdi, %rbx
		pop %rbx
		ret
		.skip 6, 0xcc
		.cfi_startproc
		ret
		.cfi_endproc
	EOS
	expect "code without CFI" 0 "" --elf bare.so -o bare.sframe
}
bare 2
want="code bytes: 3 of 3 with CFI covered, 12 without CFI (20.000 %)"
is "its bytes" "$want" "$(sed -n 2p out)"
printf '\0\0\0\0\0\0\0\0' | dd of=bare.so bs=1 seek=40 conv=notrunc 2>/dev/null
printf '\0\0\0\0' | dd of=bare.so bs=1 seek=60 conv=notrunc 2>/dev/null
expect "the same without section headers" 0 "" --elf bare.so -o bare.sframe
is "the same bytes" "$want" "$(sed -n 2p out)"
bare 20000000
is "a share is rounded down" \
	"20000001 of 20000001 with CFI covered, 12 without CFI (99.999 %)" \
	"$(sed -n '2s/^code bytes: //p' out)"
"${CC:-cc}" -shared -nostdlib -x assembler -o bare.so - <<-EOS
	.text
	.cfi_startproc
	ret
	.cfi_endproc
EOS
expect "no code without CFI" 0 "" --elf bare.so -o bare.sframe
is "all is covered" \
	"code bytes: 1 of 1 with CFI covered, 0 without CFI (100.000 %)" \
	"$(sed -n 2p out)"
rm bare.so bare.sframe

# put FILE OFFSET BYTES VALUE: in the byte order of AMD64
put() {
	_value=$4
	for _byte in $(seq "$3"); do
		# shellcheck disable=SC2059 # octal is for the format
		printf "\\$(printf %03o $((_value & 255)))"
		_value=$((_value >> 8))
	done | dd of="$1" bs=1 seek="$2" conv=notrunc 2>/dev/null
}
# header FILE NAME: where the header of this section is in the file
header() {
	_table=$(readelf -hW "$1" |
		sed -n 's/.*Start of section headers: *\([0-9]*\).*/\1/p')
	_index=$(readelf -SW "$1" |
		sed -n "s/^ *\[ *\([0-9]*\)\] \.$2 .*/\1/p")
	echo $((_table + 64 * _index))
}

# .debug_frame is used where .eh_frame has nothing, and never in its way
# part NAME SECTIONS: an object with one function and its CFI there
part() {
	"${CC:-cc}" -c -x assembler -o "$1.o" - <<-EOS
		.cfi_sections $2
		.section .text.$1, "ax"
		.globl $1
		.hidden $1
	$1:	.cfi_startproc
		push %rbx
		.cfi_def_cfa_offset 16
		# more than compression takes
		.rept 40
		nop
		.cfi_remember_state
		nop
		.cfi_restore_state
		.endr
		pop %rbx
		.cfi_def_cfa_offset 8
		ret
		.cfi_endproc
	EOS
}
# linked NAME OBJECT...: a library and its section; 'first' is kept in any case
linked() {
	_out=$1
	shift
	"${CC:-cc}" -shared -nostdlib -Wl,--gc-sections,-u,first \
		-Wl,--build-id=none -o "$_out.so" "$@"
	expect "$_out" 0 "" --elf "$_out.so" --cfi-only -o "$_out.sframe"
	cp out "$_out.out"
}
# debug_frame NAME WANT: what the summary says of it
debug_frame() {
	is "$1: summary" "$2" "$(sed -n 's/^debug_frame: //p' "$1.out")"
}
same_rows() {
	"$bin" --dump "$1.sframe" >one
	"$bin" --dump "$2.sframe" >two
	same "$1: rows as of $2" two one
}
part first .eh_frame
part second .debug_frame
linked merged first.o second.o -Wl,-u,second
debug_frame merged "1 functions, 83 bytes that .eh_frame leaves out"
is "merged: functions" "functions: 2 of 2 covered" "$(head -n 1 merged.out)"
is "merged: code bytes" \
	"code bytes: 166 of 166 with CFI covered, 0 without CFI (100.000 %)" \
	"$(sed -n 2p merged.out)"
part second .eh_frame
linked both first.o second.o -Wl,-u,second
"$bin" --dump both.sframe | grep -o 'CFA=.*' >two
"$bin" --dump merged.sframe | grep -o 'CFA=.*' >one
same "merged: rows as if all were in .eh_frame" two one
# at this place in the file
frames() {
	readelf -SW "$1" | sed -n 's/.* \.debug_frame *PROGBITS *[0-9a-f]* //p' |
		cut -d' ' -f1
}
objcopy -R .debug_frame merged.so without.so
expect "without" 0 "" --elf without.so --cfi-only -o without.sframe
cp merged.so damaged.so
printf '\377' | dd of=damaged.so bs=1 seek=$((0x$(frames merged.so) + 1)) \
	conv=notrunc 2>/dev/null
expect "damaged" 0 "" --elf damaged.so --cfi-only -o damaged.sframe
cp out damaged.out
debug_frame damaged \
	"not used: 0x$(frames merged.so | sed 's/^0*//'): CFI record is truncated"
same_rows damaged without
is "damaged: functions" "functions: 1 of 1 covered" "$(head -n 1 damaged.out)"
for kind in zlib zlib-gnu; do
	objcopy --compress-debug-sections=$kind merged.so $kind.so
	expect "$kind" 0 "" --elf $kind.so --cfi-only -o $kind.sframe
	cp out $kind.out
	debug_frame $kind "1 functions, 83 bytes that .eh_frame leaves out"
	same_rows $kind merged
	# the section is after a header of 24 bytes or 12, then zlib's of 2
	at=$((0x$(readelf -SW $kind.so |
		sed -n 's/.* \.z*debug_frame *PROGBITS *[0-9a-f]* //p' |
		cut -d' ' -f1)))
	printf '\377\377\377\377' | dd of=$kind.so bs=1 seek=$((at + 30)) \
		conv=notrunc 2>/dev/null
	expect "$kind, damaged" 0 "" --elf $kind.so --cfi-only -o $kind.sframe
	cp out $kind.out
	debug_frame $kind "not used: is compressed and damaged, or in a way that\
 libelf cannot read"
	same_rows $kind without
	# it says that it becomes 1 GiB
	case $kind in
	zlib) put $kind.so $((at + 8)) 8 $((1 << 30)) ;;
	*) printf '\0\0\0\0\100\0\0\0' | dd of=$kind.so bs=1 \
		seek=$((at + 4)) conv=notrunc 2>/dev/null ;;
	esac
	# shellcheck disable=SC3045 # dash and bash have it
	(ulimit -v 65536 && exec "$bin" --elf $kind.so --cfi-only -o $kind.sframe) >out 2>err
	is "$kind that grows too much, 64 MiB of memory" 0 "$?$(cat err)"
	same_rows $kind without
done

# debug information apart: what it says of code that is elsewhere
part second .debug_frame
linked apart second.o -Wl,-u,second
objcopy -R .eh_frame apart.so apart.only 2>/dev/null
expect "apart: all in one" 0 "" --elf apart.only -o apart.sframe
for options in --only-keep-debug "--only-keep-debug --compress-debug-sections"; do
	# shellcheck disable=SC2086 # words
	objcopy $options apart.only apart.debug
	expect "$options" 0 "" --elf apart.debug -o debug.sframe
	is "$options: functions" "functions: 1 of 1 covered" "$(head -n 1 out)"
	is "$options: name of the CFI" ".debug_frame" \
		"$(sed -n 's/^CFI: .* bytes \(.*\), 0 bytes.*/\1/p' out)"
	same_rows apart debug
done
objcopy --only-keep-debug without.so debug.none
expect "debug file without CFI" 1 "sframegen: debug.none: 0x0: a separate debug\
 file without .debug_frame: use the program or library that it belongs to" \
	--elf debug.none -o x
rm -f apart.* debug.*
part second .eh_frame
# one that cannot be read, from the file's start
cp merged.so huge.so
truncate -s 24G huge.so
put huge.so $(($(header merged.so debug_frame) + 24)) 8 0
put huge.so $(($(header merged.so debug_frame) + 32)) 8 $((20 << 30))
expect "huge" 0 "" --elf huge.so --cfi-only -o huge.sframe
cp out huge.out
debug_frame huge "not used: more than 4 GiB would be read"
same_rows huge without
put huge.so $(($(header merged.so debug_frame) + 32)) 8 $((1 << 30))
# shellcheck disable=SC3045 # dash and bash have it
(ulimit -v 65536 && exec "$bin" --elf huge.so --cfi-only -o huge.sframe) >huge.out 2>err
is "huge, 64 MiB of memory" 0 "$?$(cat err)"
debug_frame huge "not used: out of memory"
same_rows huge without
part second .debug_frame
linked discarded first.o second.o
debug_frame discarded ""
is "discarded: functions" "functions: 1 of 1 covered" \
	"$(head -n 1 discarded.out)"
same_rows discarded without
# The same without .eh_frame, in text that begins at 0: at the library's headers,
# and at its code, which has other functions there.
for text in -z,noseparate-code -Ttext=0; do
	"${CC:-cc}" -c -x assembler -o pair.o - <<-EOS
		.section .text.other, "ax"
		.globl other
	other:	.skip 64, 0xc3
		.cfi_sections .debug_frame
		.section .text.dropped, "ax"
		.cfi_startproc
		.skip 48, 0x90
		.cfi_endproc
		.section .text.first, "ax"
		.globl first
	first:	.cfi_startproc
		.skip 16, 0x90
		.cfi_endproc
	EOS
	linked pair pair.o -Wl,-u,other,$text
	objcopy -R .eh_frame pair.so 2>/dev/null
	expect "discarded, $text" 0 "" --elf pair.so -o pair.sframe
	is "discarded, $text: functions" "functions: 1 of 2 covered" \
		"$(head -n 1 out)"
	is "discarded, $text: why" "48 bytes in 1 functions: outside of the text" \
		"$(sed -n 's/^not covered: //p' out)"
	is "discarded, $text: bytes" \
		"16 of 16 with CFI covered, 64 without CFI (20.000 %)" \
		"$(sed -n '2s/^code bytes: //p' out)"
done
rm -f pair.*
part first ".eh_frame, .debug_frame"
linked twice first.o
debug_frame twice ""
same_rows twice without
rm -f first.o second.o one two ./*.out merged.* both.* without.* damaged.* \
	zlib* discarded.* twice.* huge.*

# functions of more rows than an FDE may have
# long NAME GAP: a library with functions of 40, 3 and 20 rows, GAP apart
long() {
	_gap=$2
	for _rows in 40 3 20; do
		printf '.cfi_startproc\n'
		for _row in $(seq $_rows); do
			printf '.cfi_def_cfa_offset %d\n.skip %d,0x90\n' \
				$((_rows * 1000 + _row * 8)) "$_gap"
		done
		printf '.cfi_endproc\n.skip 65,0xc3\n'
	done | "${CC:-cc}" -shared -nostdlib -x assembler -o "$1" -
}
split() {
	sed -n 's/^split: //p' out
}
long long.so 1
expect "functions of many rows" 0 "" --elf long.so --cfi-only -o long.sframe
is "what their FDEs take" \
	"2 functions of too many rows are in 5 FDEs, 63 bytes more than unsplit" \
	"$(split)"
expect "the same unsplit" 0 "" --elf long.so --cfi-only --max-rows 40 -o whole.sframe
is "nothing is said of splitting" "" "$(split)"
is "the bytes are what the section is longer by" 63 \
	$(($(wc -c <long.sframe) - $(wc -c <whole.sframe)))
# 40 starts of 2 bytes in one FDE, of 1 byte in three
long long.so 16
expect "functions of many long rows" 0 "" --elf long.so -o long.sframe
"$bin" --elf long.so --max-rows 65535 -o whole.sframe >/dev/null
is "shorter starts are taken off" \
	"2 functions of too many rows are in 5 FDEs, 3 bytes more than unsplit" \
	"$(split)"
# 40 starts of 2 bytes in one FDE, of 1 byte in two
long long.so 8
expect "functions of many rows, at most 30" 0 "" --elf long.so --max-rows 30 \
	-o long.sframe
is "splitting may save bytes" \
	"1 functions of too many rows are in 2 FDEs, 19 bytes fewer than unsplit" \
	"$(split)"
rm long.so long.sframe whole.sframe

# code in a segment that is not executable: no PF_X (1) in its flags
cp tiny.so aside.so
code=$(readelf -lW tiny.so | sed -n '/^ *Type/,/^$/p' |
	grep -n ' R E ' | cut -d: -f1)
put aside.so $((64 + 56 * (code - 2) + 4)) 4 4
expect "executable section of another segment" 0 "" --elf aside.so \
	-o aside.sframe
is "its code is counted" "$("$bin" --elf tiny.so -o aside.sframe | sed -n 2p)" \
	"$(sed -n 2p out)"
rm aside.*

# memory is for what is used of a file
cp tiny.so sparse.so
truncate -s 5G sparse.so
# shellcheck disable=SC3045 # dash and bash have it
(ulimit -v 65536 && exec "$bin" --elf sparse.so -o sparse.sframe) >out 2>err
is "file of 5 GiB, 64 MiB of memory" "$(cksum <tiny.sframe)" \
	"$(cat err)$(cksum <sparse.sframe)"
# The code's segment: from the file's start, 20 GiB of nothing after it.
cp tiny.so sparse.so
truncate -s 24G sparse.so
code=$(readelf -lW tiny.so | sed -n '/^ *Type/,/^$/p' |
	grep -n ' R E ' | cut -d: -f1)
put sparse.so $((64 + 56 * (code - 2) + 32)) 8 $((20 << 30))
too_much="0x*: more than 4 GiB would be read"
expect "segment of 20 GiB" 1 "sframegen: sparse.so: $too_much" \
	--elf sparse.so -o x
# shellcheck disable=SC3045 # dash and bash have it
(ulimit -v 65536 && exec "$bin" --elf sparse.so -o x) >out 2>err
is "segment of 20 GiB, 64 MiB of memory" \
	"1 sframegen: sparse.so: 0x0: more than 4 GiB would be read" \
	"$? $(cat err)"
put sparse.so $((64 + 56 * (code - 2) + 32)) 8 $((3 << 30))
# shellcheck disable=SC3045 # dash and bash have it
(ulimit -v 65536 && exec "$bin" --elf sparse.so -o sparse.sframe) >out 2>err
is "segment of 3 GiB, 64 MiB of memory" "0 $(cksum <tiny.sframe)" \
	"$?$(cat err) $(cksum <sparse.sframe)"
cp tiny.so sparse.so
truncate -s 24G sparse.so
put sparse.so $(($(header tiny.so eh_frame) + 32)) 8 $((20 << 30))
expect ".eh_frame of 20 GiB" 1 "sframegen: sparse.so: $too_much" \
	--elf sparse.so -o x
expect "dump of a file that is too large for a section" 1 \
	"sframegen: sparse: File too large" --dump "$(truncate -s 5G sparse &&
	echo sparse)"
rm sparse.so sparse.sframe sparse

# what the output's name leads to
want=$(cksum <tiny.sframe)
content() {
	is "$1" "$want" "$(cksum <"$2")"
}
files() {
	find . ! -name . | sort | tr '\n' ' '
}
mkdir outputs outputs/deep
cd outputs || exit 1
cp ../tiny.so in.so
ln in.so hard.so
ln -s in.so soft.so
for name in in.so ./in.so hard.so soft.so ../outputs/in.so; do
	expect "output to the input as $name" 1 \
		"sframegen: $name: is the input" --elf in.so -o $name
done
expect "template onto its input" 1 "sframegen: in.so: is the input" \
	--template soft.so -o in.so
is "the input is untouched" "$(cksum <../tiny.so)" "$(cksum <in.so)"
rm hard.so soft.so
echo old >real
ln -s real direct
ln -s ../direct deep/relative
ln -s "$PWD/deep/relative" absolute
expect "output through three links" 0 "" --elf in.so -o absolute
content "the file after the links is written" real
is "the links stay" "real ../direct $PWD/deep/relative " \
	"$(readlink direct deep/relative absolute | tr '\n' ' ')"
rm real
expect "output through a link to nothing" 0 "" --elf in.so -o direct
content "the file is made where the link leads" real
ln -s loop loop
expect "output through a link to itself" 1 \
	"sframegen: loop: Too many levels of symbolic links" --elf in.so -o loop
expect "output to a directory" 1 "sframegen: deep: Is a directory" \
	--elf in.so -o deep
rm -r loop direct absolute deep
expect "name of 255 bytes" 0 "" --elf in.so -o "$(printf '%0255d' 0)"
rm "$(printf '%0255d' 0)"

for mode in 600 640 444 755; do
	# only root may write to it
	[ $mode != 444 ] || [ "$(id -u)" -eq 0 ] || continue
	echo old >real
	chmod $mode real
	expect "output to a file of mode $mode" 0 "" --elf in.so -o real
	is "mode $mode is kept" $mode "$(stat -c %a real)"
	rm real
done
# as FILE ARGS...: sframegen as a user without rights
as_user() {
	if [ "$(id -u)" -eq 0 ]; then
		setpriv --reuid=1234 --regid=1234 --clear-groups "$@"
	else
		"$@"
	fi
}
mkdir open
chmod 777 open
chmod a+rx "$tmp" ../../here .
cp "$bin" in.so open
echo old >open/real
chmod 444 open/real
if (cd open && as_user ./sframegen --version) >/dev/null 2>&1; then
	(cd open && as_user ./sframegen --elf in.so -o real) >out 2>err
	is "output to a file that may not be written" \
		"1 sframegen: real: Permission denied" "$? $(cat err)"
	is "it stays" old "$(cat open/real)"
	(cd open && as_user ./sframegen --elf in.so -o new) >out 2>err
	content "a new file beside it" open/new
else
	skip "output to a file that may not be written" "no setpriv"
fi
rm -rf open
(umask 027 && exec "$bin" --elf in.so -o real) >out 2>err
is "a new file has the mode that the umask leaves" 640 "$(stat -c %a real)"
if [ "$(id -u)" -eq 0 ]; then
	chown 1234:4321 real
	expect "output to a file of another owner" 0 "" --elf in.so -o real
	is "the owner is kept" 1234:4321 "$(stat -c %u:%g real)"
fi
rm real

"$bin" --elf in.so -o /dev/stdout 2>err | cksum >sum
is "/dev/stdout that is a pipe: nothing but the section" "$want" "$(cat sum)"
is "the summary is on standard error" "functions: 4 of 4 covered" \
	"$(head -n 1 err)"
echo before >real
"$bin" --elf in.so -o /dev/stdout >>real 2>err
is "/dev/stdout that is a file: written where it stands" "$want before" \
	"$(tail -c +8 real | cksum) $(head -n 1 real)"
"$bin" --elf in.so -o /dev/fd/5 5>real >out 2>err
content "/dev/fd/5" real
is "its summary is on standard output" "functions: 4 of 4 covered" \
	"$(head -n 1 out)"
ln -s /dev/fd/5 five
"$bin" --elf in.so -o five 5>real >out 2>err
content "a link to /dev/fd/5" real
expect "/dev/fd/9 that is not open" 1 \
	"sframegen: /dev/fd/9: Bad file descriptor" --elf in.so -o /dev/fd/9
for name in /dev/fd/1x /dev/fd/4294967297; do
	"$bin" --elf in.so -o $name >out 2>err
	is "$name is no open file" "1 0 sframegen: $name: No such file or directory" \
		"$? $(wc -c <out) $(cat err)"
done
mkfifo fifo
cksum <fifo >sum &
expect "output to a FIFO" 0 "" --elf in.so -o fifo
wait
is "the FIFO's reader has the section" "$want" "$(cat sum)"
[ -p fifo ] || not_ok "output to a FIFO" "replaced by a file"
rm fifo five real sum err out

# by the rules of sfjit record
"$bin" --elf in.so -o - 2>err | cksum >sum
is "- is standard output" "$want functions: 4 of 4 covered ./in.so" \
	"$(cat sum) $(head -n 1 err) $(ls ./-* ./in.so 2>/dev/null)"
if mknod disk b 240 77 2>/dev/null; then
	expect "block device" 1 "sframegen: disk: is a block device" \
		--elf in.so -o disk
	rm disk
else
	skip "block device" "only root can make one"
fi
if command -v python3 >/dev/null; then
	python3 -c 'import socket
socket.socket(socket.AF_UNIX).bind("socket")'
	expect "socket" 1 "sframegen: socket: is a socket" --elf in.so -o socket
	rm socket
	is "terminal" "1 sframegen: /dev/stdout: is a terminal" "$(python3 - "$bin" <<END
import os, subprocess, sys
manager, terminal = os.openpty()
done = subprocess.run([sys.argv[1], '--elf', 'in.so', '-o', '-'],
                      stdout=terminal, stderr=subprocess.PIPE, text=True)
print(done.returncode, done.stderr.splitlines()[-1])
END
)"
else
	skip "socket, terminal" "python3 is not installed"
fi
rm sum err out

# limits: the old content or nothing stays, and no temporary file
dd if=/dev/zero of=padding bs=64k count=1 2>/dev/null
cc=${CC:-cc}
{
	echo .text
	printf '.skip 8,0x90\n.cfi_startproc\n'
	i=0
	while [ $i -lt 400 ]; do
		printf 'nop\n.cfi_def_cfa_offset %d\n' $((i * 8 + 16))
		i=$((i + 1))
	done
	echo .cfi_endproc
} | $cc -c -x assembler -o many.o -
echo old >real
# one block is 512 bytes, in some shells 1024
(ulimit -f 1 && exec "$bin" --elf many.o -o real) 2>err >out
is "limit on the size of files" "1 sframegen: real: File too large" \
	"$? $(cat err)"
is "the old content stays" old "$(cat real)"
(ulimit -f 1 && exec "$bin" --elf many.o -o fresh) 2>err >out
is "limit on the size of a new file" "1 sframegen: fresh: File too large" \
	"$? $(cat err)"
is "no file is left" "./err ./in.so ./many.o ./out ./padding ./real " "$(files)"
# In a file system of 32 KiB that 'padding' has filled.
# shellcheck disable=SC2016
full='mount -t tmpfs -o size=32k none disk || exit 99
	cd disk && echo old >real && cat ../padding >fill 2>/dev/null
	"$1" --elf ../many.o -o real >../out 2>../err; echo "$?"
	"$1" --elf ../many.o -o fresh >>../out 2>>../err; echo "$?"
	cat real; ls -A'
mkdir disk
unshare -rm sh -c "$full" sh "$bin" >sum 2>/dev/null
if [ "$(head -c 2 sum)" = 99 ] || [ ! -s sum ]; then
	skip "full disk" "no mount of a file system of one's own"
else
	is "full disk: status, old content, no other file" "1 1 old fill real " \
		"$(tr '\n' ' ' <sum)"
	is "full disk: messages" \
		"$(printf 'sframegen: %s: No space left on device\n' real fresh)" \
		"$(cat err)"
fi
cd ..
rm -r outputs

# without section headers .eh_frame is found through PT_GNU_EH_FRAME
cp tiny.so headless
printf '\0\0\0\0\0\0\0\0' | dd of=headless bs=1 seek=40 conv=notrunc 2>/dev/null
printf '\0\0\0\0' | dd of=headless bs=1 seek=60 conv=notrunc 2>/dev/null
expect "file without section headers" 0 "" --elf headless -o headless.sframe
is "the same section" "$(cksum < tiny.sframe)" "$(cksum < headless.sframe)"

# A terminator before what the index lists: the last 4 bytes of the first FDE
# become one. Then something that is no CFI after it.
"${CC:-cc}" -shared -nostdlib -Wl,--build-id=none -x assembler -o listed.so - <<-EOS
	.cfi_startproc
	.skip 16, 0x90
	.cfi_def_cfa_offset 16
	.cfi_escape 0x2e, 1, 0x2e, 1
	nop
	.cfi_endproc
	.skip 64, 0xc3
	.cfi_startproc
	nop
	.cfi_endproc
	.section .gcc_except_table, "a"
	.rept 16
	.long 0x12345678
	.endr
EOS
expect "two functions" 0 "" --elf listed.so -o listed.sframe
want=$(cksum <listed.sframe)
# headless FILE: takes the section headers away
headless() {
	put "$1" 40 8 0
	put "$1" 60 4 0
}
at=$((0x$(readelf -SW listed.so | sed -n 's/.* \.eh_frame *[A-Z0-9_]* *[0-9a-f]* //p' |
	cut -d' ' -f1)))
# of the CIE, then of the FDE
at=$((at + 4 + $(od -An -tu4 -j$at -N4 listed.so)))
len=$(od -An -tu4 -j$at -N4 listed.so)
is "four bytes that change no row" 2e012e01 \
	"$(od -An -tx1 -j$((at + len)) -N4 listed.so | tr -d ' ')"
cp listed.so plain.so
headless plain.so
expect "no section headers, something after the CFI" 0 "" \
	--elf plain.so -o again.sframe
is "its section is the same" "$want" "$(cksum <again.sframe)"
put listed.so $at 4 $((len - 4))
put listed.so $((at + len)) 4 0
expect "terminator before what the index lists" 0 "" \
	--elf listed.so -o again.sframe
is "the section is the same" "$want" "$(cksum <again.sframe)"
headless listed.so
expect "the same without section headers" 0 "" --elf listed.so -o again.sframe
is "that section is the same" "$want" "$(cksum <again.sframe)"
rm -f listed.* again.sframe plain.so

# object NAME <CODE: of one function of this name
object() {
	{
		printf '\t.text\n\t.globl %s\n\t.type %s,@function\n' "$1" "$1"
		printf '%s:\t.cfi_startproc\n' "$1"
		cat
		printf '\t.cfi_endproc\n\t.size %s, . - %s\n' "$1" "$1"
	} | "${CC:-cc}" -c -x assembler -o "$1.o" -
}

object plain <<'EOS'
	push %rbx
	.cfi_def_cfa_offset 16
	call *%rax
	pop %rbx
	.cfi_def_cfa_offset 8
	ret
EOS
expect "template" 0 "" --template plain.o -o plain.h
cat >use.c <<'EOS'
#include "plain.h"
#include "plain.h"
_Static_assert(PLAIN_CODE_SIZE == 5 && PLAIN_SLOT_SIZE == 16 &&
	       sizeof(plain_code) == 5 && sizeof(plain_sframe) == 58 &&
	       PLAIN_SFRAME_START_OFF == 28 && PLAIN_SFRAME_SIZE_OFF == 36 &&
	       sizeof(plain_packed) == 98 && PLAIN_PACKED_SIZE == 98 &&
	       PLAIN_PACKED_START_OFF == 8 && PLAIN_PACKED_SIZE_OFF == 16 &&
	       PLAIN_EH_FRAME_START_OFF % 8 == 0, "template");
EOS
works "the header compiles, twice included" \
	"${CC:-cc}" -Wall -Werror -c -o use.o use.c
object moved <<'EOS'
	call elsewhere
	ret
EOS
expect "template of code that is relocated" 1 \
	"sframegen: moved.o: 0x*: moved: code needs relocation" \
	--template moved.o -o x
object long <<'EOS'
	.skip 129, 0x90
EOS
expect "template of a long function" 1 \
	"sframegen: long.o: 0x*: long: longer than a slot of 128 bytes" \
	--template long.o -o x
object hole <<'EOS'
	nop
	.cfi_def_cfa 17, 8
	ret
EOS
expect "template of code without rows" 1 \
	"sframegen: hole.o: 0x*: hole: CFI does not cover the function*" \
	--template hole.o -o x
object frame <<'EOS'
	push %rbp
	.cfi_def_cfa_offset 16
	.cfi_offset %rbp, -16
	mov %rsp, %rbp
	.cfi_def_cfa_register %rbp
	pop %rbp
	.cfi_def_cfa %rsp, 8
	ret
EOS
expect "template with a frame pointer" 1 \
	"sframegen: frame.o: 0x*: frame: rows beyond an .eh_frame template" \
	--template frame.o -o x
# names that the file chose, into C and onto a terminal
long=$(printf '%0256d' 0 | tr 0 a)
for name in "$(printf 'two\nlines')" plain.part.0 9lives '*/ int x; /*' é \
	"$long"; do
	objcopy --redefine-sym plain="$name" plain.o named.o
	expect "template of a function named $(echo "$name" | tr '\n' ' ')" 1 \
		"sframegen: named.o: 0x*: function's name is too long or not one in C" \
		--template named.o -o x
	is "one line of message" 1 "$(wc -l <err)"
done
objcopy --redefine-sym plain="${long#a}" plain.o named.o
expect "template of a function with a long name" 0 "" \
	--template named.o -o long.h
rm long.h
[ ! -e x ] || not_ok "template" "output of a failure"
# an object of several sections: each has its own place
expect "object file" 0 "" --elf plain.o -o plain.sframe
expect "verify without .sframe" 1 \
	"sframegen: plain.o: 0x0: no .sframe section" --verify plain.o

# what a JIT links has no dependency but the C library's memory functions
needs=$(nm -u "$O/lib/libsframegen.a" | sed -n 's/^ *U //p' | sort -u |
	grep -v -e '^sfg_' -e '^cfi_' -e '^_GLOBAL_OFFSET_TABLE_$' |
	tr '\n' ' ')
is "libsframegen.a needs only memory functions" \
	"calloc free malloc memcmp memcpy memmove memset qsort realloc " "$needs"
finish
