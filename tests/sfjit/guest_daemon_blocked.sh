#!/bin/sh
# SPDX-License-Identifier: MIT
# SPDX-FileCopyrightText: 2026 The sfjit authors
#
# In the guest: sfjit daemon beside a FUSE file system that does not answer, and with
# little memory left.

# shellcheck source=tests/lib/tap.sh
. "$(dirname "$0")/../lib/tap.sh"
# shellcheck source=tests/sfjit/daemon-lib.sh
. "$top/tests/sfjit/daemon-lib.sh"

# --- a file system that does not answer ---------------------------------------------

blocked=$work/blocked
mkdir "$blocked"
start_daemon --timeout=1
await 1 "$(readlink -f "$run/prefork")" "$run/prefork" 1
hold python3 -B "$top/tests/sfjit/daemon/fuse.py" "$blocked" "$run/prefork-static"
until_said 1 "$blocked/open: no table: opening took too long" true
ok "a file that cannot be opened"
until_said 1 "$blocked/read: no table: reading took too long" true
ok "a file that cannot be read"
until_said 1 "$blocked/close: no table: reading took too long" true
ok "a file that cannot be closed"
await 1 "$blocked/good" true
ok "a file beside these has one"
cp "$run/prefork" "$work/beside"
await 1 "$work/beside" "$work/beside" 1
ok "a program of another file system has one"
# Its end closes the files, which waits for the server, so both end at once.
pkill -KILL -f daemon/fuse.py
release
alive

# --- little memory ------------------------------------------------------------------

# hog MIB: takes all memory but that much, and keeps it in use
hog() {
	python3 -c 'import mmap, sys
with open("/proc/meminfo") as file:
    free = dict(line.split()[:2] for line in file)["MemAvailable:"]
memory = mmap.mmap(-1, (int(free) - int(sys.argv[1]) * 1024) * 1024)
for at in range(0, len(memory), mmap.PAGESIZE):
    memory[at] = 1
print(len(memory), flush=True)
sys.stdin.read()' "$1"
}

tables >"$tmp/before"
cp "$run/prefork" "$work/pressed"
hold hog 64
await 1 "$work/pressed" "$work/pressed" 1
record_enough pressed 100 "$work/pressed"
judge "little memory: a program that starts" pressed
tables >"$tmp/after"
is "no table was removed" "" "$(grep -vxFf "$tmp/after" "$tmp/before")"
release
stop_daemon
finish
