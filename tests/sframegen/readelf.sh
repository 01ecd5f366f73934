#!/bin/sh
# SPDX-License-Identifier: MIT
# SPDX-FileCopyrightText: 2026 The sfjit authors
#
# Description: binutils' readelf and objdump list the same FDEs and rows of
# our sections as we do.

# shellcheck source=tests/lib/tap.sh
. "$(dirname "$0")/../lib/tap.sh"
# shellcheck source=tests/sframegen/common
. "$top/tests/sframegen/common"

as=$(new_tool as) || skip_all "$as"
readelf=$(new_tool readelf) || skip_all "$readelf"
objdump=$(new_tool objdump) || skip_all "$objdump"

# Rules that compilers seldom make: DRAP, RA and FP in unusual places.
{
	printf '\t.text\nodd:\t.cfi_startproc\n\tnop\n'
	drap_cfi
	cat <<-'EOS'
		.cfi_restore 6
		.cfi_register 16, 2
		nop
		.cfi_offset 16, -24
		.cfi_offset 6, -32
		nop
		.cfi_undefined 16
		nop
		.cfi_endproc
	EOS
} >"$tmp/odd.s"
"$as" -o "$tmp/odd.o" "$tmp/odd.s" || exit 1

# wrap SECTION OBJECT: binutils only look into ELF files
wrap() {
	printf '.section .sframe,"a",@0x6ffffff4\n.incbin "%s"\n' "$1" |
		"$as" -o "$2" -
}

for file in "$tmp/odd.o" $(trixie_files); do
	convert "$file" || continue
	wrap "$tmp/section" "$tmp/wrapped.o"
	"$bin" --dump "$tmp/section" | awk -f tests/sframegen/to-readelf.awk \
		>"$tmp/ours"
	for tool in "$readelf" "$objdump"; do
		"$tool" --sframe "$tmp/wrapped.o" |
			awk -f tests/sframegen/from-readelf.awk >"$tmp/theirs"
		_lines=$(wc -l <"$tmp/theirs")
		_what="$name, $(basename "$tool"): $_lines lines"
		if [ -s "$tmp/ours" ] && cmp -s "$tmp/ours" "$tmp/theirs"; then
			ok "$_what"
		else
			not_ok "$_what" "$(diff "$tmp/ours" "$tmp/theirs" |
				head -n 4 | tr '\n' ' ')"
		fi
	done
	# the counts of the header are what is there
	_said=$("$readelf" --sframe "$tmp/wrapped.o" |
		sed -n 's/.*Num FDEs: //p')
	if [ "$_said" = "$(grep -c ^func "$tmp/ours")" ]; then
		ok "$name: number of FDEs"
	else
		not_ok "$name: number of FDEs" "header says $_said"
	fi
done

finish
