#!/bin/sh
# SPDX-License-Identifier: MIT
# SPDX-FileCopyrightText: 2026 The sfjit authors
#
# In the guest: sfjit daemon beside files of a user who means harm. Tables of other
# files stay as they are, and memory is bounded.

# shellcheck source=tests/lib/tap.sh
. "$(dirname "$0")/../lib/tap.sh"
# shellcheck source=tests/sfjit/daemon-lib.sh
. "$top/tests/sfjit/daemon-lib.sh"
libc=$(readlink -f "$(ldd "$run/prefork" | awk '/libc\.so/ { print $3 }')")
theirs=$work/theirs
mkdir -m 777 "$theirs"

start_daemon
await 1 "$(readlink -f "$run/prefork")" "$run/prefork" 1
await 1 "$libc" "$run/prefork" 1
for file in "$run/prefork" "$libc"; do
	tables_of "$file"
done >"$tmp/before"

hold unprivileged python3 -B "$top/tests/sfjit/daemon/hostile.py" "$theirs" \
	"$run/prefork" "$run/prefork-static" "$libc"
# The daemon converts files in the order of their mappings: this one comes last.
cp "$run/prefork" "$work/last"
await 1 "$work/last" "$work/last" 1

is "a file that is cut off" 1 \
	"$(said "$theirs/cut: no table: nothing to convert, or damaged")"
is "a file of another machine" 1 "$(said "$theirs/class32: skipped: ")"
is "a file with a hole of 1 TiB" 1 "$(said "$theirs/sparse: 1 table, ")"
is "segments of 256 GiB" 1 "$(said "$theirs/large: no table: ")"
is "nothing but a magic number" 1 "$(said "$theirs/zeros: skipped: ")"
is "libc's build ID" 1 "$(said "$theirs/libcs-id: 1 table, ")"
works "a file that was rewritten" [ "$(said "$theirs/rewritten: ")" -gt 0 ]
works "a file that holes were punched into" [ "$(said "$theirs/holes: ")" -gt 0 ]
works "the daemon runs" kill -0 "$daemon"

for file in "$run/prefork" "$libc"; do
	tables_of "$file"
done >"$tmp/after"
same "tables of other files" "$tmp/before" "$tmp/after"
is "are in use" 2 "$(grep -c ' current$' "$tmp/after")"
record_enough prefork 100 "$run/prefork"
judge "another program" prefork

bytes=$(sed -n 's/^tables [0-9]* //p' "/proc/$daemon"/fdinfo/* 2>/dev/null)
works "the tables take no more than usual" [ "$bytes" -le $((16 << 20)) ]
peak=$(awk '/^VmHWM/ { print $2 }' "/proc/$daemon/status")
works "the daemon takes no more memory than usual" [ "$peak" -le $((32 << 10)) ]
release
stop_daemon
is "no conversion is left" "" "$(pgrep -x sfjit)"
finish
