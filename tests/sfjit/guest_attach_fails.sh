#!/bin/sh
# SPDX-License-Identifier: MIT
# SPDX-FileCopyrightText: 2026 The sfjit authors
#
# In the guest: processes that sfjit attach refuses, and calls that fail in a
# process. Nothing of sfjit stays there.

# shellcheck source=tests/lib/tap.sh
. "$(dirname "$0")/../lib/tap.sh"
# shellcheck source=tests/preload/lib.sh
. "$top/tests/preload/lib.sh"
# shellcheck source=tests/sfjit/attached.sh
. "$top/tests/sfjit/attached.sh"

# fails NAME MESSAGE COMMAND...: exits with status 1 and leaves $pid unchanged
fails() {
	name=$1 message=$2
	shift 2
	snapshot "$pid" >"$tmp/before"
	said=$("$@" "$pid" 2>&1)
	is "$name" "1 sfjit: $pid: $message" "$? $said"
	is "$name: no windows" 0 "$(windows "$pid")"
	snapshot "$pid" >"$tmp/after"
	same "$name: mappings and files" "$tmp/before" "$tmp/after"
}

# ---- What it does not attach to --------------------------------------------------

is "a thread of the kernel" kthreadd "$(cat /proc/2/comm)"
message=$("$sfjit" attach 2 2>&1)
is "a thread of the kernel: message" \
	"1 sfjit: 2: has no executable: it has exited, or is a kernel thread" \
	"$? $message"

start "$tmp/odd" "$O/tests/sfjit/programs/attach-odd" loads
# While others use all CPUs it loads none, and attaching succeeds.
for _ in $(seq 100); do
	message=$("$sfjit" attach "$pid" 2>&1) && status=0 || status=$?
	[ $status = 0 ] || break
	"$sfjit" detach "$pid" >"$tmp/said" 2>&1
done
is "code all the time" "1 sfjit: $pid: keeps loading code: try again later" \
	"$status $message"
is "code all the time: no windows" 0 "$(windows "$pid")"
is "code all the time: no memory" 0 "$(grep -c memfd: "/proc/$pid/maps")"
kill "$pid"

start "$tmp/odd" "$O/tests/sfjit/programs/attach-odd" dispatches
spins
fails "calls are dispatched" "intercepts its system calls: see PR_SET_SYSCALL_USER_DISPATCH" \
	"$sfjit" attach
spins
is "calls are dispatched: the program has not got one" R "$(state)"
kill "$pid"

start "$tmp/odd" "$O/tests/sfjit/programs/attach-no-call"
spins
fails "no instruction of a call" \
	"no system call instruction found in its code" "$sfjit" attach
spins
is "no instruction of a call: goes on" R "$(state)"
kill "$pid"

# Programs for a user.
chmod 755 "$tmp"
mkdir -p "$tmp/user/bin" "$tmp/user/lib"
cp "$sfjit" "$run/ptraces.so" "$tmp/user/bin/"
cp -r "$O/lib/sfjit" "$tmp/user/lib/"
chmod -R go+rX "$tmp/user"
as_user="setpriv --reuid=1000 --regid=1000 --clear-groups"
echo 1 >"$tmp/scope"
# shellcheck disable=SC2086 # words
start "$tmp/users" $as_user sh -c 'echo ready; read -r line'
# shellcheck disable=SC2086 # words
fails "Yama" "kernel.yama.ptrace_scope lets only root attach to it" \
	$as_user env "LD_PRELOAD=$tmp/user/bin/ptraces.so" \
	"SCOPE=$tmp/scope" "$tmp/user/bin/sfjit" attach
echo 0 >"$tmp/scope"
# shellcheck disable=SC2086 # words
fails "Yama, with the value 0" "may not be traced" \
	$as_user env "LD_PRELOAD=$tmp/user/bin/ptraces.so" \
	"SCOPE=$tmp/scope" "$tmp/user/bin/sfjit" attach
kill "$pid"

# ---- Calls that fail -------------------------------------------------------------

# shellcheck disable=SC2016 # for the other shell
start "$tmp/limits" sh -c 'echo ready; read -r line; echo "$line"'
size=$(awk '/^VmSize:/ { print $2 * 1024 }' "/proc/$pid/status")
no_memory="mmap(): Cannot allocate memory"
prlimit --pid "$pid" --as="$size:"
fails "no memory" "$no_memory" "$sfjit" attach
prlimit --pid "$pid" --as=$((size + 4096)):
fails "no memory for the tables" "$no_memory" "$sfjit" attach
prlimit --pid "$pid" --as=unlimited:
prlimit --pid "$pid" --nofile=3:
fails "no more files" "memfd_create(): Too many open files" "$sfjit" attach
prlimit --pid "$pid" --nofile=100:
message=$("$sfjit" attach "$pid" 2>&1)
like "without limits: attached" "$pid: [1-9]* windows, *" "$message"
detached "without limits"
goes_on "without limits" "$tmp/limits"

# Windows are removed before their memory.
start "$tmp/odd" "$O/tests/sfjit/programs/attach-odd" seals
message=$("$sfjit" attach "$pid" 2>&1)
like "sealed memory: attached" "$pid: [1-9]* windows, *" "$message"
echo >&7
until [ "$(wc -l <"$tmp/odd")" = 2 ]; do
	sleep 0.1
done
like "sealed memory: it is" "[1-9]*" "$(tail -n 1 "$tmp/odd")"
for command in detach attach; do
	fails "sealed memory: $command" \
		"munmap(): Operation not permitted" "$sfjit" $command
done
is "sealed memory: is left" yes \
	"$(grep -q memfd:sfjit-attach "/proc/$pid/maps" && echo yes)"
is "sealed memory: goes on" S "$(state_is S)"
kill "$pid"
finish
