#!/bin/sh
# SPDX-License-Identifier: MIT
# SPDX-FileCopyrightText: 2026 The sfjit authors
#
# tools/guest --gdb: the line that it prints connects gdb, which stops where a
# command of the guest registers a window, and knows names and source lines.

: "${SFJIT_KERNEL:=debug}"
export SFJIT_KERNEL
# shellcheck source=tests/lib/tap.sh
. "$(dirname "$0")/../../lib/tap.sh"
command -v gdb >/dev/null || skip_all "gdb is not installed"

# said NAME PATTERN: gdb printed a line that matches.
said() {
	if grep -qE "$2" "$tmp/gdb"; then
		ok "$1"
	else
		not_ok "$1" "no '$2' in '$(tail -n 20 "$tmp/gdb" |
			tr '\n' '|')'"
	fi
}

cat >"$tmp/commands" <<'END'
hbreak sframe_prctl_register
continue
backtrace
lx-version
delete
detach
END
tools/guest --gdb --name=gdb --timeout=3600 -- build/bin/sfjit run -- true \
	2>"$tmp/said" &
guest=$!
until line=$(grep '^gdb ' "$tmp/said"); do
	kill -0 $guest 2>/dev/null || break
	sleep 0.2
done
eval "timeout 3600 ${line:-false} -batch -x '$tmp/commands'" >"$tmp/gdb" 2>&1
status=0
wait $guest || status=$?

source=kernel/unwind/sframe_prctl.c
said "stops in the kernel" \
	"^Thread .* hit Breakpoint 1, sframe_prctl_register \(key=.*"
said "names and source lines" "^#0 +sframe_prctl_register \(.* at .*/$source:[0-9]+$"
said "its callers" "^#[1-9] .* __[a-z0-9]+_sys_prctl \(.* at .*/kernel/sys.c:[0-9]+$"
said "up to the system call" "^#[1-9].* entry_SYSCALL_64 \(\) at .*/entry_64.S:[0-9]+$"
said "the kernel's own commands" "^Linux version 7\.3"
[ $status = 0 ] || cat "$tmp/said"
is "the guest goes on without gdb" 0 $status
finish
