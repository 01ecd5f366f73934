#!/bin/sh
# SPDX-License-Identifier: MIT
# SPDX-FileCopyrightText: 2026 The sfjit authors
#
# Description: at each instruction of each trampoline the equation in the
# source equals the row of the assembler's .sframe, of its .eh_frame and of
# the window's table; the table has the expected size.

# shellcheck source=tests/lib/tap.sh
. "$(dirname "$0")/../lib/tap.sh"
source=arch/x86_64/trampoline.S
object=$O/obj/arch/x86_64/trampoline-sframe.o
objdump=$(O=$O tools/binutils objdump) || exit 1

# check NAME WANT GOT
check() {
	is "$1" "${2:-something}" "$3"
}

# Lines "SLOT CFA FP" in the order of the source; FP is "same" or an offset.
awk '/^slot_start/ { slot = $2 }
	/^slot_end/ { slot = "" }
	slot && match($0, /CFA = sp \+ [0-9]+, fp .*\*\//) {
		split(substr($0, RSTART), word, /[ ,()*]+/)
		fp = word[7] == "same" ? "same" : "-" word[10]
		print slot, "sp+" word[5], fp
	}' $source >"$tmp/equations"

# Lines "SLOT ADDRESS" of the same instructions, addresses in the object.
objdump -d --no-show-raw-insn "$object" |
	awk '/^[0-9a-f]+ </ { slot = substr($2, 2); sub(/>.*/, "", slot) }
	/^ *[0-9a-f]+:/ && $2 != "int3" {
		sub(/:/, "", $1); print slot, $1 }' >"$tmp/instructions"

check "equations and instructions" \
	"$(awk '{ print $1 }' "$tmp/instructions")" \
	"$(awk '{ print $1 }' "$tmp/equations")"

paste -d ' ' "$tmp/instructions" "$tmp/equations" |
	awk '{ print $1, $2, $4, $5 }' >"$tmp/want"

# Lines "ADDRESS CFA FP", one per row.
"$objdump" --sframe "$object" | awk '/^ *[0-9a-f]+  *sp\+/ {
	print $1, $2, $3 == "u" ? "same" : substr($3, 2) }' >"$tmp/sframe"
readelf --debug-dump=frames-interp "$object" |
	awk '/^ *LOC/ { has_fp = $3 == "rbp" }
	/FDE/ { fde = 1 }
	fde && /^[0-9a-f]+ rsp/ {
		fp = has_fp && $3 != "u" ? substr($3, 2) : "same"
		sub(/rsp/, "sp", $2); print $1, $2, fp }' >"$tmp/eh_frame"

# row_at FILE ADDRESS: the last row at or before it
row_at() {
	while read -r start cfa fp; do
		[ $((0x$start)) -gt $((0x$2)) ] || row="$cfa $fp"
	done <"$1"
	echo "$row"
}

while read -r slot address cfa fp; do
	check "$slot at $address: .sframe" "$cfa $fp" \
		"$(row_at "$tmp/sframe" "$address")"
	check "$slot at $address: .eh_frame" "$cfa $fp" \
		"$(row_at "$tmp/eh_frame" "$address")"
done <"$tmp/want"

# The tables of real windows, as the library registered them.
"$O/tests/libsfjit/pool" "$tmp" || exit 1

# dump KIND: "START CFA FP" of the rows of a window
dump() {
	"$O/bin/sframegen" --dump "$tmp/$1.packed" >"$tmp/dump" || return 1
	sed -n 's/^ *0x\([0-9a-f]*\): CFA=\(sp+[0-9]*\)\(.*\)/\1 \2\3/p' \
		"$tmp/dump" | sed -e 's/ FP=\[CFA\(.*\)\]/ \1/' \
		-e '/ .* /!s/$/ same/'
}

# The same rows, relative to the slot, each where it begins.
slot_rows() {
	base=$(awk -v s="sfjit_tramp_$1" '$1 == s { print $2; exit }' \
		"$tmp/want")
	last=
	grep "^sfjit_tramp_$1 " "$tmp/want" | while read -r _ address cfa fp; do
		[ "$cfa $fp" = "$last" ] ||
			printf '%x %s %s\n' $((0x$address - 0x$base)) "$cfa" \
				"$fp"
		last="$cfa $fp"
	done
}

for kind in arg slot rbp; do
	check "$kind: bytes of the table" 98 "$(wc -c <"$tmp/$kind.packed")"
	check "$kind: rows of the table" "$(slot_rows "$kind")" \
		"$(dump "$kind")"
	check "$kind: code that repeats" 1 \
		"$(grep -c '^packed table .*-0x[0-9a-f]*, repeats 16$' "$tmp/dump")"
done

works "sframegen derives what the assembler did" \
	"$O/bin/sframegen" --verify "$object"
finish
