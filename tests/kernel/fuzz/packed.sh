#!/bin/sh
# SPDX-License-Identifier: MIT
# SPDX-FileCopyrightText: 2026 The sfjit authors
#
# The kernel's reader of packed tables, against the library's: each address of a
# file has the same rule, and no read leaves a table that changes in use. Steps by
# hand-made tables.

# shellcheck source=tests/lib/tap.sh
. "$(dirname "$0")/../../lib/tap.sh"
# shellcheck source=tests/kernel/fuzz/judge.sh
. tests/kernel/fuzz/judge.sh
tools/make -s build/bin/sframegen build/tests/kernel/fuzz/kernel-packed \
	build/tests/kernel/fuzz/kernel-rules || finish

judge kernel-packed "$O/tests/kernel/fuzz/kernel-packed"

for file in /bin/sh libc.so.6 libcrypto.so.3 libstdc++.so.6; do
	path=$(gcc -print-file-name="$file")
	[ -f "$path" ] || continue
	"$O/bin/sframegen" --elf "$path" --format packed -o "$tmp/table" \
		>"$tmp/said" || not_ok "$file has a table" "$(cat "$tmp/said")"
	judge "$file" "$O/tests/kernel/fuzz/kernel-rules" -n 500000 \
		"$tmp/table"
done
finish
