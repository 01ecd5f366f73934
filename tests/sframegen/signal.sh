#!/bin/sh
# SPDX-License-Identifier: MIT
# SPDX-FileCopyrightText: 2026 The sfjit authors
#
# Description: the C library's signal frames stay what they are: found by their
# code, described by readelf from one byte before it, converted as that.

# shellcheck source=tests/lib/tap.sh
. "$(dirname "$0")/../lib/tap.sh"
# shellcheck source=tests/sframegen/common
. "$top/tests/sframegen/common"

# restorers FILE: where its code is "mov $15, %rax; syscall", in hex. Not that
# of signals.c, which has no call frame information on purpose.
restorers() {
	objdump -d --no-show-raw-insn "$1" | awk '
		/<signals_restorer>:/ { skip = 2 }
		skip-- > 0 { next }
		/mov +\$0xf,%rax/ { at = $1; sub(/:/, "", at); next }
		at != "" && $2 == "syscall" { print at }
		{ at = "" }'
}

files=$(trixie_files | grep -e libc.so.6 -e ld-linux)
[ -n "$files" ] || skip_all "no files of Debian 13"
for file in $files "$O/tests/preload/programs/hello-static" \
	"$O/tests/system/guest/signals-static"; do
	convert "$file" || continue
	readelf --debug-dump=frames "$file" 2>"$tmp/err" |
		awk -f tests/sframegen/signal.awk | while read -r start end; do
		printf '0x%x-0x%x\n' "0x$start" "0x$end"
	done >"$tmp/readelf"
	# 9 bytes of code
	for at in $(restorers "$file"); do
		printf '0x%x-0x%x\n' $((0x$at - 1)) $((0x$at + 9))
	done >"$tmp/code"
	where=$(cat "$tmp/code")
	is "$name: readelf's signal frame is the code and a byte before: $where" \
		"$where" "$(cat "$tmp/readelf")"
	"$bin" --dump "$tmp/section" |
		sed -n 's/^FDE [0-9]*: \([^ ]*\) .* signal$/\1/p' >"$tmp/ours"
	is "$name: converted: $where" "$where" "$(cat "$tmp/ours")"
	is "$name: restorers: 1" 1 "$(wc -l <"$tmp/ours")"
done
finish
