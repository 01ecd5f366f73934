#!/bin/sh
# SPDX-License-Identifier: MIT
# SPDX-FileCopyrightText: 2026 The sfjit authors
#
# Description: at every code byte with CFI the row equals libdw's rules, and
# what has no row has a rule that SFrame cannot say.

# shellcheck source=tests/lib/case.sh
. "$(dirname "$0")/../lib/case.sh"
# shellcheck source=tests/diff/common
. "$top/tests/diff/common"

# coverage NAME: in thousandths of a percent, from the counts of libdw-rows
check_coverage() {
	_permille=$(awk '{ print int(($3 + $5) * 100000 / $1) }' "$tmp/out")
	# perlasm's CFAs of the form *(rsp + n) + 8 are beyond the format
	_want=99900
	case $1 in libcrypto*) _want=96500 ;; esac
	if [ "$_permille" -ge $_want ]; then
		ok "$1: $_permille thousandths of a percent are covered"
	else
		not_ok "$1: coverage" "$(cat "$tmp/out")"
	fi
}

need_files
for file in $files; do
	convert "$file" || continue
	if "$programs/libdw-rows" "$file" "$tmp/section" >"$tmp/out"; then
		ok "$name: $(cat "$tmp/out")"
	else
		not_ok "$name: rows" "$(head -n 3 "$tmp/out" | tr '\n' ' ')"
	fi
	check_coverage "$name"
	# two ways to count the same bytes
	said=$(sed -n 's/^code bytes: \([0-9]*\) of \([0-9]*\) .*/\1 \2/p' \
		"$tmp/summary")
	seen=$(awk 'END { print $3 + $5, $1 }' "$tmp/out")
	is "$name: the summary counts the same bytes" "$seen" "$said"
done

# A row that is off by one has to be noticed.
file=$(echo "$files" | sed -n 2p)
convert "$file"
size=$(wc -c <"$tmp/section")
printf '\143' | dd of="$tmp/section" bs=1 seek=$((size - 1)) conv=notrunc \
	2>/dev/null
if "$programs/libdw-rows" "$file" "$tmp/section" >/dev/null; then
	not_ok "a wrong row is noticed" "it was not"
else
	ok "a wrong row is noticed"
fi
finish
