#!/bin/sh
# SPDX-License-Identifier: MIT
# SPDX-FileCopyrightText: 2026 The sfjit authors
#
# Description: sections stay below 0.75 of .eh_frame + .eh_frame_hdr with at
# most 16 rows per FDE.

# shellcheck source=tests/lib/tap.sh
. "$(dirname "$0")/../lib/tap.sh"
# shellcheck source=tests/sframegen/common
. "$top/tests/sframegen/common"

need_files
for file in $files; do
	convert "$file" || continue
	ratio=$(sed -n 's/.*section is \(.*\)x$/\1/p' "$tmp/summary")
	if awk "BEGIN { exit !($ratio <= 0.75) }"; then
		ok "$name: ${ratio}x"
	else
		not_ok "$name: size" "${ratio}x"
	fi
	rows=$("$bin" --dump "$tmp/section" |
		sed -n 's/^FDE .* \([0-9]*\) rows.*/\1/p' | sort -n | tail -n 1)
	if [ "$rows" -le 16 ]; then
		ok "$name: at most $rows rows"
	else
		not_ok "$name: rows" "$rows in one FDE"
	fi
done

finish
