#!/bin/sh
# SPDX-License-Identifier: MIT
# SPDX-FileCopyrightText: 2026 The sfjit authors
#
# Description: what an FDE covers beyond the CFI disassembles to nothing but
# padding, and the summary counts it.

# shellcheck source=tests/lib/tap.sh
. "$(dirname "$0")/../lib/tap.sh"
# shellcheck source=tests/sframegen/common
. "$top/tests/sframegen/common"

readelf=$(new_tool readelf) || skip_all "$readelf"
objdump=$(new_tool objdump) || skip_all "$objdump"

need_files
for file in $(echo "$files" | grep -e libc.so -e ld-linux -e libcrypto); do
	convert "$file" --cfi-only || continue
	"$bin" --dump "$tmp/section" >"$tmp/dump"
	"$readelf" --debug-dump=frames "$file" >"$tmp/frames" 2>/dev/null
	"$objdump" -d --no-show-raw-insn "$file" >"$tmp/code"
	if python3 tests/sframegen/padding.py "$tmp/frames" "$tmp/dump" \
		"$tmp/code" >"$tmp/out"; then
		ok "$name: only padding in $(cat "$tmp/out") without CFI"
	else
		not_ok "$name" "$(tr '\n' ' ' <"$tmp/out")"
	fi
	said=$(sed -n 's/^padding bytes: \([0-9]*\) .*/\1 bytes/p' \
		"$tmp/summary")
	if [ "$said" = "$(tail -n 1 "$tmp/out")" ] &&
	   [ "$said" != "0 bytes" ]; then
		ok "$name: the summary counts it"
	else
		not_ok "$name: summary" "says $said"
	fi
done

finish
