#!/bin/sh
# SPDX-License-Identifier: MIT
# SPDX-FileCopyrightText: 2026 The sfjit authors
#
# In the guest: the windows in /proc/PID/sframe.

# shellcheck source=tests/lib/tap.sh
. "$(dirname "$0")/../lib/tap.sh"
# shellcheck source=tests/preload/lib.sh
. "$top/tests/preload/lib.sh"

register sleep 60000 &
while ! grep -qs ' ready ' "$log"; do
	sleep 0.1
done
pid=$(sed -n 's/^sfjit: \([0-9]*\) .* ready .*/\1/p' "$log")
sed -n 's/^\([0-9a-f]*\)-\([0-9a-f]*\) \([0-9a-f]*\) .*/\1 \3/p' \
	"/proc/$pid/sframe" >"$tmp/windows"
# Where the module has written a jump, a file's text is in several mappings.
sed -n 's/^\([0-9a-f]*\)-\([0-9a-f]*\) r-xp \(.*\)/\1 \2 \3/p' \
	"/proc/$pid/maps" | awk '
	$1 != end || $NF != file { print $1, $1 }
	{ end = $2; file = $NF }' >"$tmp/text"
is "one window for the text of each file, its key is its start" \
	"$(cat "$tmp/text")" "$(cat "$tmp/windows")"
kill "$pid"
# A killed process dies on its own CPU; wait for it.
tries=0
while grep -qs . "/proc/$pid/sframe" && [ $tries -lt 6000 ]; do
	sleep 0.1
	tries=$((tries + 1))
done
is "the process is gone with its windows" 0 \
	"$(cat "/proc/$pid/sframe" 2>/dev/null | wc -l)"

# At first; with the library; closed; loaded again at the same place.
windows() {
	register "$run/loader" windows "$run/$1"
}
is "a library" "5 6 5 6" "$(windows plugin1.so)"
is "a library without build-id" "5 6 5 6" "$(windows plugin-anonymous.so)"
is "a library with two windows" "5 7 5 7" "$(windows plugin-gap.so)"
is "a library with a hundred and one windows" "5 106 5 106" \
	"$(windows plugin-gaps.so)"
# The rest of the last page of code has no code, and has a window, too.
is "a library with .debug_frame alone" "5 6 5 6" "$(windows plugin-debug.so)"
is "code of Mono without CFI" "5 6 5 6" "$(windows plugin-mono.so)"
is "a library with code for gdb" "5 8 5 8" "$(windows plugin-jit.so)"
is "a library that cannot be converted" "5 5 5 5" \
	"$(rm -rf "$tables"; windows plugin-broken.so)"
is "text that is mapped over itself" "map 7 5 7
move 7 7 7
part 7 6 7
other 7 5 5
3" "$(register "$run/remap" "$run/plugin-gap.so" map move part other)"
is "windows of a library, as its IFUNC resolver and constructor see them" \
	"11 11" "$(register "$run/loader" keep "$run/plugin-early.so" |
		tr '\n' ' ')$("$sfjit" run -- "$run/loader" keep \
		"$run/plugin-early.so")"
is "without sfjit they see none" 0 \
	"$("$run/loader" keep "$run/plugin-early.so")"
finish
