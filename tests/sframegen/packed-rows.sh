#!/bin/sh
# SPDX-License-Identifier: MIT
# SPDX-FileCopyrightText: 2026 The sfjit authors
#
# Description: a packed table says what the section of the same file says, around
# each place where a row changes, and what libdw's rules say at each code byte; it
# is shorter than .eh_frame + .eh_frame_hdr.

# shellcheck source=tests/lib/tap.sh
. "$(dirname "$0")/../lib/tap.sh"
# shellcheck source=tests/sframegen/common
. "$top/tests/sframegen/common"

# same_rows FILE UNIT: leaves the table as $tmp/section
same_rows() {
	convert "$1" --format v3-addend || return
	cp "$tmp/section" "$tmp/v3"
	convert "$1" --format packed || return
	if "$programs/packed-rows" "$tmp/v3" "$tmp/section" "$2" >"$tmp/out"; then
		ok "$name, as the section: $(cat "$tmp/out")"
	else
		not_ok "$name, as the section" "$(tr '\n' ' ' <"$tmp/out")"
	fi
}

need_files
for file in $files; do
	same_rows "$file" 1 || continue
	rows_are_libdws "$name" "$file" packed
	sed -n 's/^table: \([0-9]*\) .*/\1/p
		s/^CFI: \([0-9]*\) .* \([0-9]*\) bytes .eh_frame_hdr.*/\1 \2/p' \
		"$tmp/summary" | tr '\n' ' ' >>"$tmp/sizes"
	echo >>"$tmp/sizes"
done

awk '{ cfi = $2 + $3; all += cfi; tables += $1
	print ($1 / cfi <= 0.7 ? "" : "not ") "good", $1 / cfi }
	END { print (tables / all <= 0.42 ? "" : "not ") "good", tables / all
	}' "$tmp/sizes" >"$tmp/ratios"
is "none is over 0.70, all together are at most 0.42" "6 0" \
	"$(grep -c good "$tmp/ratios") $(grep -c ^not "$tmp/ratios")"

# Those of this machine, which others have made.
for file in /bin/sh /lib/x86_64-linux-gnu/libc.so.6 \
	/lib/x86_64-linux-gnu/libm.so.6 /usr/bin/python3 \
	/usr/lib/x86_64-linux-gnu/libstdc++.so.6; do
	[ ! -f "$file" ] || same_rows "$file" 1
done
for machine in aarch64:4 s390x:2; do
	file=/usr/${machine%:*}-linux-gnu/lib/libc.so.6
	[ ! -f "$file" ] || same_rows "$file" "${machine#*:}"
done

# A rule that is off by one has to be noticed, and one change that is.
file=$(echo "$files" | sed -n 2p)
# noticed NAME BYTE OFFSET: that this byte of the table is another one
noticed() {
	convert "$file" --format packed
	cp "$tmp/section" "$tmp/wrong"
	# shellcheck disable=SC2059 # octal escapes
	printf "$2" | dd of="$tmp/wrong" bs=1 seek="$3" conv=notrunc 2>/dev/null
	if "$programs/packed-rows" "$tmp/v3" "$tmp/wrong" 1 >"$tmp/out"; then
		not_ok "$1 is noticed" "it was not"
	else
		is "$1 is noticed" 1 "$(grep -c ' differ$' "$tmp/out")"
	fi
}
convert "$file" --format v3-addend
cp "$tmp/section" "$tmp/v3"
noticed "a wrong rule" '\011' 52
size=$(convert "$file" --format packed; wc -c <"$tmp/section")
# The last id of the last block is of what follows the code.
noticed "a wrong id" '\003' $((size - 10))
finish
