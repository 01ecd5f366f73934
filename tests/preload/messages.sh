#!/bin/sh
# SPDX-License-Identifier: MIT
# SPDX-FileCopyrightText: 2026 The sfjit authors
#
# Description: sfjit run finds commands as a shell does, prints one reason why a
# program runs without windows, and always runs it.

# shellcheck source=tests/lib/tap.sh
. "$(dirname "$0")/../lib/tap.sh"
# shellcheck source=tests/preload/lib.sh
. "$top/tests/preload/lib.sh"

# messages NAME STATUS PATTERN COMMAND...: PATTERN matches standard error
# without the line about the kernel, which appears at most once.
messages() {
	name=$1 want=$2 pattern=$3
	shift 3
	"$sfjit" run -- "$@" >"$tmp/out" 2>"$tmp/err" </dev/null
	status=$?
	is "$name: status" "$want" "$status"
	grep -v 'knows no SFrame windows' "$tmp/err" >"$tmp/rest"
	like "$name: message" "$pattern" "$(cat "$tmp/rest")"
}

once() {
	is "$1: one line" 1 "$(grep -c . "$tmp/rest")"
}

messages "not found in PATH" 127 "sfjit: no-such-command: command not found" \
	no-such-command
messages "no such file" 127 "sfjit: ./no/such: command not found" ./no/such
messages "empty name" 127 "sfjit: : command not found" ""
messages "directory" 126 "sfjit: /usr: Permission denied" /usr
touch "$tmp/plain"
messages "not executable" 126 "sfjit: $tmp/plain: Permission denied" \
	"$tmp/plain"
messages "dynamic" 3 "" "$run/hello" 3
# sfjit run attaches to such a program.
static="it runs without windows"
[ ! -e /proc/self/sframe ] || static="sfjit attaches to it"
messages "static" 4 "sfjit: * is statically linked; $static" \
	"$run/hello-static" 4
once "static"
is "static: output" hello "$(cat "$tmp/out")"
messages "static, without call frame information" 4 "sfjit: * is statically \
linked, without call frame information; it runs without windows" \
	"$run/hello-bare" 4
once "static, without call frame information"
is "static, without call frame information: output" hello "$(cat "$tmp/out")"
if "$run/hello-asan" >/dev/null 2>&1; then
	messages "AddressSanitizer" 5 "" "$run/hello-asan" 5
	is "AddressSanitizer: output" hello "$(cat "$tmp/out")"
	messages "a child with it" 5 "" sh -c "$run/hello-asan 5"
	is "a child with it: output" hello "$(cat "$tmp/out")"
else
	skip "AddressSanitizer" "its library is not installed here"
fi

printf '#!%s 6\n' "$run/hello-static" >"$tmp/script"
chmod +x "$tmp/script"
messages "script of a static interpreter" 6 "sfjit: * is statically linked;*" \
	"$tmp/script"
printf '#! /bin/sh -e\nexit 7\n' >"$tmp/script"
messages "script" 7 "" "$tmp/script"
printf 'exit 8\n' >"$tmp/script"
messages "text without #!" 8 "" "$tmp/script"
printf '#!/no/such/interpreter\n' >"$tmp/script"
messages "script without interpreter" 127 "sfjit: *: command not found" \
	"$tmp/script"

# An ELF header of another machine.
cp "$run/hello" "$tmp/foreign"
printf '\377\376' | dd of="$tmp/foreign" bs=1 seek=18 conv=notrunc 2>/dev/null
"$sfjit" run -- "$tmp/foreign" >"$tmp/out" 2>"$tmp/err"
like "foreign architecture: message" \
	"sfjit: * is for another architecture; it runs without windows*" \
	"$(cat "$tmp/err")"

mkdir "$tmp/first" "$tmp/second"
printf '#!/bin/sh\n' >"$tmp/first/tool"
printf '#!/bin/sh\nexit 9\n' >"$tmp/second/tool"
chmod +x "$tmp/second/tool"
PATH="$tmp/first:$tmp/second:$PATH"
messages "PATH passes by what is not executable" 9 "" tool

set_id() {
	if [ "$(id -u)" != 0 ]; then
		skip "$1" "only root can make such a program"
		return
	fi
	chmod 755 "$tmp"
	install -m "$2" -g "$3" "$run/hello" "$tmp/set-id"
	setpriv --reuid=65534 --regid=65534 --clear-groups \
		"$sfjit" run -- "$tmp/set-id" 11 \
		>"$tmp/out" 2>"$tmp/err" || status=$?
	if [ ! -s "$tmp/out" ]; then
		skip "$1" "not runnable as another user from here"
		return
	fi
	is "$1: status" 11 "$status"
	like "$1: message" "*gains privileges*; it runs without windows*" \
		"$(cat "$tmp/err")"
}

set_id "set-user-ID" 4755 root
set_id "set-group-ID" 2755 root

# Messages go to the log; without it nothing runs.
log() {
	"$sfjit" run -o "$2" -- "$run/hello" 3 >"$tmp/out" 2>"$tmp/err"
	is "$1: status" "$3" $?
	is "$1: message" "$4" "$(grep -v 'knows no SFrame windows' "$tmp/err")"
}
mkdir "$tmp/dir"
mkfifo "$tmp/fifo"
log "log in no directory" "$tmp/none/log" 125 \
	"sfjit: $tmp/none/log: No such file or directory"
log "log is a directory" "$tmp/dir" 125 "sfjit: $tmp/dir: Is a directory"
log "log is a FIFO that nobody reads" "$tmp/fifo" 3 ""
is "log is a FIFO: it stays one" yes "$([ -p "$tmp/fifo" ] && echo yes)"
log "log is a device" /dev/null 3 ""

# A kernel that has windows, but not with packed tables.
(
	export LD_PRELOAD="$run/formats.so" FORMATS=15
	register "$run/hello" 3 >"$tmp/out"
	is "an older kernel: status" 3 $?
)
older="this kernel is older than sfjit (see sfjit doctor)"
is "an older kernel: message" "sfjit: $older; $run/hello runs without" \
	"$(cat "$tmp/stderr")"
is "an older kernel: said once" 1 "$(grep -c \
	" skipped all modules: $older (errno 95)\$" "$log")"
like "an older kernel: modules" "*kernel=old" "$(tail -n 1 "$log")"

"$sfjit" --help >"$tmp/out" 2>"$tmp/err"
is "--help: status" 0 $?
like "--help: text" "Usage: sfjit run*" "$(cat "$tmp/out")"
"$sfjit" run --help >"$tmp/out"
is "run --help: status" 0 $?
like "--version" "sfjit [0-9]*.[0-9]*" "$("$sfjit" --version)"

# help must not be written to a closed output
{
	printf '%s\n' --help --version
	"$sfjit" --help | sed -n 's/^.\{6\} sfjit \([a-z]*\) .*/\1 --help/p'
} >"$tmp/commands"
is "commands whose help is asked for" 3 "$(grep -cx -e --version \
	-e "run --help" -e "ps --help" "$tmp/commands")"
while read -r arguments; do
	# shellcheck disable=SC2086 # a list of words
	"$sfjit" $arguments >/dev/full 2>"$tmp/err"
	is "$arguments that cannot be written" \
		"125 sfjit: output: No space left on device" "$? $(cat "$tmp/err")"
done <"$tmp/commands"
for arguments in "" "walk" "--wrong" "run" "run --wrong" "run -o"; do
	# shellcheck disable=SC2086 # a list of words
	"$sfjit" $arguments >"$tmp/out" 2>"$tmp/err"
	is "usage '$arguments': status" 125 $?
	is "usage '$arguments': nothing on standard output" "" \
		"$(cat "$tmp/out")"
done
finish
