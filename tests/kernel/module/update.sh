#!/bin/sh
# SPDX-License-Identifier: MIT
# SPDX-FileCopyrightText: 2026 The sfjit authors
#
# Description: module/linux is what module/update writes, so that the module has
# the edits of the series.

# shellcheck source=tests/lib/tap.sh
. "$(dirname "$0")/../../lib/tap.sh"

# differences: of the files here and those that are written anew
differences() {
	diff -r module/linux "$tmp/linux" 2>&1 | head -n 5
}

# updated TOP: writes $tmp/linux, from the commits of TOP
updated() {
	"$1/module/update" "$tmp/linux" >"$tmp/said" 2>&1
}

if [ -d "${KERNEL_SRC:-${XDG_CACHE_HOME:-$HOME/.cache}/sfjit/linux-apt-7.3}" ]; then
	updated .
	is "module/update exits with 0" 0 $?
	is "module/linux is what module/update writes" "" "$(differences)"

	mkdir "$tmp/top"
	cp -r --parents -t "$tmp/top" kernel-patches/series \
		kernel-patches/[0-9]* module tools
	# The last one, which no other has as its context.
	last=''
	while read -r commit; do
		edit=$tmp/top/kernel-patches/$commit/edit.patch
		! grep -qs '^+++ b/kernel/unwind/user\.c' "$edit" || last=$edit
	done <kernel-patches/series
	sed -i '/^+++ b.kernel.unwind.user\.c/,/^---/s|^+.*;$|& /* changed */|' \
		"$last"
	updated "$tmp/top"
	like "an edit of the series that module/linux lacks is found" \
		"*changed*" "$(differences)"
else
	skip "module/linux is what module/update writes" \
		"no source of the kernel here"
fi
finish
