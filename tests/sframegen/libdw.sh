#!/bin/sh
# SPDX-License-Identifier: MIT
# SPDX-FileCopyrightText: 2026 The sfjit authors
#
# Description: at every code byte with CFI the row equals libdw's rules, and
# what has no row has a rule that SFrame cannot say.

# shellcheck source=tests/lib/tap.sh
. "$(dirname "$0")/../lib/tap.sh"
# shellcheck source=tests/sframegen/common
. "$top/tests/sframegen/common"

# in thousandths of a percent, from the counts of libdw-rows
check_coverage() {
	_permille=$(awk '{ print int(($3 + $5) * 100000 / $1) }' "$tmp/out")
	if [ "$_permille" -ge "$1" ]; then
		ok "$what: $_permille thousandths of a percent are covered"
	else
		not_ok "$what: coverage" "$(cat "$tmp/out")"
	fi
}

# compare FILE FORMAT COVERAGE
compare() {
	convert "$1" --format "$2" || return
	what="$name, $2"
	rows_are_libdws "$what" "$1" "$2"
	check_coverage "$3"
	# two ways to count the same bytes
	said=$(sed -n 's/^code bytes: \([0-9]*\) of \([0-9]*\) .*/\1 \2/p' \
		"$tmp/summary")
	seen=$(awk 'END { print $3 + $5, $1 }' "$tmp/out")
	is "$what: the summary counts the same bytes" "$seen" "$said"
}

need_files
for file in $files; do
	want=99900
	# OpenSSL's CFAs of the form *(rsp + n) + 8 are beyond version 3
	case $file in */libcrypto*) want=96500 ;; esac
	compare "$file" v3 $want
	compare "$file" v3-addend 99900
done

# Where no CFA has an addend, the section is that of version 3.
file=$(echo "$files" | sed -n 2p)
convert "$file"
cp "$tmp/section" "$tmp/v3"
convert "$file" --format v3-addend
if cmp -s "$tmp/section" "$tmp/v3"; then
	ok "$name has no addends: the section is the same"
else
	not_ok "$name has no addends" "the section is another one"
fi

# An addend that is off by one has to be noticed, too: [sp+40]+8.
file=$(echo "$files" | grep libcrypto)
convert "$file" --format v3-addend
LC_ALL=C sed 's/\x3f\x28\x08/\x3f\x28\x09/' "$tmp/section" >"$tmp/wrong"
if "$programs/libdw-rows" "$file" "$tmp/wrong" v3-addend >/dev/null; then
	not_ok "a wrong addend is noticed" "it was not"
else
	ok "a wrong addend is noticed"
fi

# A row that is off by one has to be noticed.
file=$(echo "$files" | sed -n 2p)
convert "$file"
wrong_row_is_noticed "a wrong row is noticed" "$file"
finish
