#!/bin/sh
# SPDX-License-Identifier: MIT
# SPDX-FileCopyrightText: 2026 The sfjit authors
#
# In the guest: sfjit daemon and nothing else. Stacks of programs that do nothing
# for it, as perf records them from the whole machine; a part of each is known, and
# compared name by name.

# shellcheck source=tests/lib/tap.sh
. "$(dirname "$0")/../lib/tap.sh"
# shellcheck source=tests/sfjit/daemon-lib.sh
. "$top/tests/sfjit/daemon-lib.sh"
libc=$(ldd "$run/prefork" | awk '/libc\.so/ { print $3 }')
loader=$(ldd "$run/prefork" | awk '/ld-linux/ { print $1 }')
prefork=$(readlink -f "$run/prefork")

# call FUNCTION(ARGUMENT...): of the C library; the guest has no mount and umount.
call() {
	python3 -c 'import ctypes, os, sys
if eval("ctypes.CDLL(None, use_errno=True)." + sys.argv[1]):
    sys.exit(os.strerror(ctypes.get_errno()))' "$1"
}
mount_tmpfs() { call "mount(b'none', b'$1', b'tmpfs', 0, None)"; }

# --- without the daemon ------------------------------------------------------

record "$run/prefork" 100
summary prefork compare "" >"$tmp/sum" 2>"$tmp/bad"
is "without a daemon no stack is complete" 0 \
	"$(awk '{ c += $5 } END { print c + 0 }' "$tmp/sum")"

# --- programs -----------------------------------------------------------------

run_all prefork "$run/prefork" 100000
pkill -STOP -x prefork
start_daemon
await 1 "$prefork" true
await 1 "$(readlink -f "$libc")" true
pkill -CONT -x prefork
record_enough prefork 1 sleep
pkill -x prefork
wait %1
judge "a program that ran before" prefork

record_enough prefork 100 "$run/prefork"
judge "a program that starts" prefork
record_enough prefork 100 env -i "$run/prefork"
judge "without an environment" prefork

await 1 "$(readlink -f "$run/prefork-static")" "$run/prefork-static" 1
record_enough prefork-static 100 "$run/prefork-static"
judge "a static program" prefork-static

# --- the vDSO -----------------------------------------------------------------------

cp "$O/tests/sfjit/programs/daemon-clock" "$work/clock"
await 1 "$work/clock" "$work/clock"
record "$work/clock"
perf script --no-inline -i "$data" -F comm,pid,ip,sym,dso >"$samples" 2>>"$tmp/err"
python3 -B "$top/tests/sfjit/daemon/vdso.py" "$samples" >"$tmp/out"
read -r exact _ stacks <"$tmp/out"
if [ "$stacks" -gt 20 ] && [ "$exact" = "$stacks" ]; then
	ok "stacks that end in the vDSO: all"
else
	not_ok "stacks that end in the vDSO: all" "$(cat "$tmp/out")"
fi

# --- a program with the rights of another user --------------------------------------

cp "$run/prefork" "$work/setuid"
# A change of the owner takes the mode's bit away.
chown 1000 "$work/setuid"
chmod 4755 "$work/setuid"
await 1 "$work/setuid" unprivileged "$work/setuid" 1
# Linux tells perf at its exec that the process ends, which loses the name: it runs
# before perf does.
run_all setuid unprivileged "$work/setuid" 100000
is "a setuid program: runs as its owner" 1000 \
	"$(ps -C setuid -o euid= | sort -u | tr -d ' ')"
record_enough setuid 1 sleep
pkill -x setuid
judge "a setuid program" setuid

# --- another root ---------------------------------------------------------------

root=$work/root
inside() { unshare -m chroot "$root" /inside "$1"; }
mkdir "$root"
works "mount" mount_tmpfs "$root"
mkdir -p "$root$(dirname "$libc")" "$root$(dirname "$loader")"
cp "$run/prefork" "$root/inside"
cp "$libc" "$root$libc"
cp "$loader" "$root$loader"
# perf looks for symbols here.
cp "$run/prefork" /inside
await 1 /inside inside 1
await 1 "$libc" inside 1
record_enough inside 100 unshare -m chroot "$root" /inside
judge "another root with its own C library" inside

# --- a file system that goes --------------------------------------------------------

# idle: no file is being converted.
idle() { ! pgrep -P "$daemon" >"$tmp/out"; }

mkdir "$work/mounted"
mount_tmpfs "$work/mounted"
cp "$run/prefork" "$work/mounted/program"
await 1 "$work/mounted/program" "$work/mounted/program" 1
record_enough program 100 "$work/mounted/program"
judge "a program of another file system" program
until idle; do :; done
works "the file system is unmounted" call "umount2(b'$work/mounted', 0)"

# Linux uses the numbers of the device and of its inodes again.
mount_tmpfs "$work/mounted"
cp "$run/prefork-static" "$work/mounted/program"
await 2 "$work/mounted/program" "$work/mounted/program" 1
record_enough program 100 "$work/mounted/program"
judge "a program of a file system in its place" program

# --- files that change ------------------------------------------------------------

cp "$run/prefork" "$work/new" && mv "$work/new" "$work/replaced"
await 1 "$work/replaced" "$work/replaced" 1
cp "$run/prefork-static" "$work/new" && mv "$work/new" "$work/replaced"
await 2 "$work/replaced" "$work/replaced" 1
record_enough replaced 100 "$work/replaced"
judge "a file that was replaced" replaced

# The same inode, with other code. A sample finds that out, a mapping brings it anew.
cat "$run/prefork" >"$work/replaced"
await 3 "$work/replaced" record "$work/replaced" 30
record_enough replaced 100 "$work/replaced"
judge "a file that was rewritten" replaced

cp "$run/prefork" "$work/deleted"
await 1 "$work/deleted" "$work/deleted" 1
run_all deleted "$work/deleted" 100000
rm "$work/deleted"
# perf looks for symbols here.
cp "$run/prefork" "$work/deleted (deleted)"
record_enough deleted 1 sleep
pkill -x deleted
judge "a file that was deleted" deleted

# --- the daemon itself ------------------------------------------------------------

stop_daemon
record "$run/prefork" 100
summary prefork compare "" >"$tmp/sum" 2>"$tmp/bad"
is "no table stays after the daemon" 0 \
	"$(awk '{ c += $5 } END { print c + 0 }' "$tmp/sum")"
start_daemon
await 1 "$prefork" "$run/prefork" 1
await 1 "$(readlink -f "$libc")" "$run/prefork" 1
like "sfjit explain, of a recording from before it" \
	"*fix: record again if sfjit ps --files shows a table*" \
	"$("$sfjit" explain "$data")"
record_enough prefork 100 "$run/prefork"
judge "another daemon" prefork
like "sfjit ps --files says why stacks ended" \
	"*unwind errors of processes without windows*" "$("$sfjit" ps --files)"
stop_daemon

start_daemon --memory=1
until_said 1 "tables reached 1 MiB" record python3 -c 'import ssl, sqlite3, ctypes'
bytes=$(sed -n 's/^tables [0-9]* //p' "/proc/$daemon"/fdinfo/* 2>/dev/null)
works "the tables take no more than --memory" [ "${bytes:-0}" -le 1048576 ]
works "but there are some" [ "${bytes:-0}" -gt 0 ]
stop_daemon
finish
