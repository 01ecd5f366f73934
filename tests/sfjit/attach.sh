#!/bin/sh
# SPDX-License-Identifier: MIT
# SPDX-FileCopyrightText: 2026 The sfjit authors
#
# Description: sfjit attach and sfjit detach print one line about processes that
# they refuse, and leave them alone.

# shellcheck source=tests/lib/tap.sh
. "$(dirname "$0")/../lib/tap.sh"
# shellcheck source=tests/preload/lib.sh
. "$top/tests/preload/lib.sh"

# refuses NAME STATUS PATTERN COMMAND...
refuses() {
	name=$1 want=$2 pattern=$3
	shift 3
	"$@" >"$tmp/out" 2>"$tmp/err" </dev/null
	is "$name: status" "$want" $?
	like "$name: message" "$pattern" "$(cat "$tmp/err")"
	is "$name: no output" "" "$(cat "$tmp/out")"
}

# start WORDS COMMAND...: waits until it has printed so many; sets $pid
start() {
	want=$1
	shift
	: >"$tmp/started"
	"$@" >"$tmp/started" 2>&1 <"$tmp/input" 7>&- &
	pid=$!
	while [ "$(wc -w <"$tmp/started")" -lt "$want" ] &&
		kill -0 "$pid" 2>/dev/null; do
		sleep 0.05
	done
	read -r said <"$tmp/started"
}

mkfifo "$tmp/input"
exec 7<>"$tmp/input"

for command in attach detach; do
	for arguments in "" "x" "0" "-1" "1 2" "--wrong 1" "99999999999"; do
		# shellcheck disable=SC2086 # words
		refuses "$command '$arguments'" 125 "*Usage: sfjit $command *" \
			"$sfjit" $command $arguments
	done
	refuses "$command: no such process" 1 \
		"sfjit: 2147483647: no such process" \
		"$sfjit" $command 2147483647
	# shellcheck disable=SC2016 # for the other shell
	refuses "$command: itself" 1 "sfjit: [1-9]*: is sfjit itself" \
		sh -c 'exec "$0" "$1" $$' "$sfjit" $command
done

start 1 "$O/tests/sfjit/programs/attach-target" sleep
for thread in "/proc/$pid/task"/*; do
	thread=${thread##*/}
done
refuses "a thread" 1 "sfjit: $thread: is a thread of process $pid" \
	"$sfjit" attach "$thread"
if [ -e /proc/self/sframe ]; then
	skip "a kernel without windows" "the guest's kernel has windows"
else
	refuses "a kernel without windows" 1 \
		"sfjit: this kernel knows no SFrame windows: *" \
		"$sfjit" attach "$pid"
fi
if [ "$(id -u)" = 0 ]; then
	cp "$sfjit" "$tmp/sfjit"
	chmod 755 "$tmp" "$tmp/sfjit"
	refuses "another user" 1 \
		"sfjit: $pid: belongs to another user: only root may *" \
		setpriv --reuid=65534 --regid=65534 --clear-groups \
		"$tmp/sfjit" attach "$pid"
else
	skip "another user" "only root can become one"
fi

# PTRACE_SEIZE
cat >"$tmp/tracer.py" <<'END'
import ctypes
import sys

libc = ctypes.CDLL(None, use_errno=True)
libc.ptrace.argtypes = [ctypes.c_long] * 4
print(libc.ptrace(0x4206, int(sys.argv[1]), 0, 0), flush=True)
sys.stdin.read()
END
traced=$pid
start 1 python3 "$tmp/tracer.py" "$traced"
is "a tracer" 0 "$said"
refuses "a process that is traced" 1 \
	"sfjit: $traced: is already traced by process $pid" \
	"$sfjit" attach "$traced"
kill "$pid" "$traced"

start 1 "$O/tests/sfjit/programs/attach-target" vfork
# kcmp() of x86-64
if python3 -c 'import ctypes, os, sys
pid = os.getpid()
sys.exit(ctypes.CDLL(None).syscall(312, pid, pid, 1, 0, 0) != 0)'; then
	refuses "a process in vfork()" 1 \
		"sfjit: $pid: shares its memory with process $said, as in vfork()" \
		"$sfjit" attach "$pid"
	refuses "its child" 1 \
		"sfjit: $said: shares its memory with process $pid, as in vfork()" \
		"$sfjit" attach "$said"
else
	refuses "a process in vfork()" 1 \
		"sfjit: $pid: a thread waits in the kernel, as in vfork(), *" \
		"$sfjit" attach "$pid"
	skip "its child" "the guest's kernel has no kcmp()"
fi
kill -9 "$said" "$pid"

# A zombie, whose parent does not wait for it.
start 1 python3 -c 'import os, sys, time
pid = os.fork()
if pid:
    print(pid, flush=True)
    time.sleep(6000)'
until grep -q '^State:[[:space:]]*Z' "/proc/$said/status"; do
	sleep 0.1
done
refuses "a process that has ended" 1 "sfjit: $said: has no executable: *" \
	"$sfjit" attach "$said"
kill "$pid"

# pause() of 32-bit x86.
cat >"$tmp/small.S" <<'END'
.globl _start
_start:	mov $29, %eax
	int $0x80
	jmp _start
END
: >"$tmp/small"
if command -v as >/dev/null; then
	as --32 -o "$tmp/small.o" "$tmp/small.S"
	ld -m elf_i386 -o "$tmp/small" "$tmp/small.o"
fi
chmod +x "$tmp/small"
"$tmp/small" 2>/dev/null &
pid=$!
# Wait until it sleeps, or has exited.
while kill -0 "$pid" 2>/dev/null; do
	grep -qs '^Name:.small$' "/proc/$pid/status" &&
		grep -qs '^State:.[SZ]' "/proc/$pid/status" && break
	sleep 0.1
done
if [ ! -s "$tmp/small" ]; then
	skip "a program of another word size" "no assembler in the guest"
elif kill -0 "$pid" 2>/dev/null; then
	refuses "a program of another word size" 1 \
		"sfjit: $pid: runs code of another architecture or word size" \
		"$sfjit" attach "$pid"
	kill "$pid"
else
	skip "a program of another word size" "this kernel runs none"
fi
finish
