#!/bin/sh
# SPDX-License-Identifier: MIT
# SPDX-FileCopyrightText: 2026 The sfjit authors
#
# Description: rows derived from instructions, with CFI and symbols hidden, say
# what the CFI says at each address, but in functions whose CFI is wrong.
#
# With arguments, these files are compared instead, and only reported: their CFI may
# be wrong, too.

# shellcheck source=tests/lib/tap.sh
. "$(dirname "$0")/../lib/tap.sh"
# shellcheck source=tests/sframegen/common
. "$top/tests/sframegen/common"

judge=$programs/code-rows

# percent: of the bytes in $tmp/out, in tenths of a percent
permille() {
	awk 'END { print int(($5 + $8) * 1000 / $1) }' "$tmp/out"
}

if [ $# -gt 0 ]; then
	for file; do
		"$judge" "$file" 3 >"$tmp/out" 2>&1
		ok "$file: $(tail -n 1 "$tmp/out")"
		sed 's/^/# /' "$tmp/out"
	done
	finish
fi

# compare FILE LEAST WRONG: functions with a wrong row, and tenths of a percent
# that have rows
compare() {
	name=$(basename "$1")
	"$judge" "$1" 3 >"$tmp/out"
	is "$name: functions with other rows than the CFI" "$3" \
		"$(awk 'END { print $(NF - 1) }' "$tmp/out")"
	if [ "$(permille)" -ge "$2" ]; then
		ok "$name: $(tail -n 1 "$tmp/out")"
	else
		not_ok "$name: coverage" "$(tail -n 1 "$tmp/out")"
	fi
}

need_files
for file in $files; do
	case $file in
	# mpn_add_n() pushes without saying so; the other is not checked.
	*/libc.so*) compare "$file" 720 2 ;;
	# Vector code makes frames without saying so, as far as it was checked.
	*/libcrypto*) compare "$file" 820 14 ;;
	*/libstdc++*) compare "$file" 600 0 ;;
	*) compare "$file" 760 0 ;;
	esac
done
finish
