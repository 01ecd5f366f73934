#!/bin/sh
# SPDX-License-Identifier: MIT
# SPDX-FileCopyrightText: 2026 The sfjit authors
#
# Description: libsframe finds the same row at each boundary of our sections.

# shellcheck source=tests/lib/tap.sh
. "$(dirname "$0")/../lib/tap.sh"
# shellcheck source=tests/sframegen/common
. "$top/tests/sframegen/common"

[ -x "$programs/libsframe-rows" ] || skip_all "built without libsframe"

need_files
for file in $files; do
	convert "$file" || continue
	if "$programs/libsframe-rows" "$tmp/section" >"$tmp/out"; then
		ok "$name: $(cat "$tmp/out")"
	else
		not_ok "$name" "$(tail -n 4 "$tmp/out" | tr '\n' ' ')"
	fi
done

finish
