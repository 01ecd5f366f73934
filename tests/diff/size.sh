#!/bin/sh
# SPDX-License-Identifier: MIT
# SPDX-FileCopyrightText: 2026 The sfjit authors
#
# Description: sections stay below 0.75 of .eh_frame + .eh_frame_hdr with at
# most 16 rows per FDE.

# shellcheck source=tests/diff/common
. "$(dirname "$0")/common"

files=$(trixie_files)
[ -n "$files" ] ||
	skip "no files of Debian 13 (SFJIT_TRIXIE or tools/rootfs elf)"
for file in $files; do
	name=$(basename "$file")
	if ! "$bin" --elf "$file" -o "$tmp/section" >"$tmp/summary" 2>&1; then
		not_ok "$name: conversion" "$(cat "$tmp/summary")"
		continue
	fi
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
exit $failed
