#!/bin/sh
# SPDX-License-Identifier: MIT
# SPDX-FileCopyrightText: 2026 The sfjit authors
#
# Description: sfjit run finds commands as a shell does, says once why a program
# runs without windows, and never stands in its way.

# shellcheck source=tests/unit/run/lib.sh
. "$(dirname "$0")/run/lib.sh"

# messages NAME STATUS PATTERN COMMAND...: PATTERN matches standard error less
# the remark about the kernel, which is one line at most.
messages() {
	name=$1 want=$2 pattern=$3
	shift 3
	"$sfjit" run -- "$@" >"$work/out" 2>"$work/err" </dev/null
	status=$?
	is "$name: status" "$want" "$status"
	grep -v 'knows no SFrame windows' "$work/err" >"$work/rest"
	like "$name: message" "$pattern" "$(cat "$work/rest")"
}

once() {
	is "$1: one line" 1 "$(grep -c . "$work/rest")"
}

messages "not found in PATH" 127 "sfjit: no-such-command: command not found" \
	no-such-command
messages "no such file" 127 "sfjit: ./no/such: command not found" ./no/such
messages "empty name" 127 "sfjit: : command not found" ""
messages "directory" 126 "sfjit: /usr: Permission denied" /usr
touch "$work/plain"
messages "not executable" 126 "sfjit: $work/plain: Permission denied" \
	"$work/plain"
messages "dynamic" 3 "" "$run/hello" 3
messages "static" 4 "sfjit: * is statically linked; it runs without windows" \
	"$run/hello-static" 4
once "static"
is "static: output" hello "$(cat "$work/out")"
if "$run/hello-asan" >/dev/null 2>&1; then
	messages "AddressSanitizer" 5 \
		"sfjit: * uses AddressSanitizer, *; it runs without windows" \
		"$run/hello-asan" 5
	is "AddressSanitizer: output" hello "$(cat "$work/out")"
else
	skip "AddressSanitizer" "its library is not installed here"
fi

printf '#!%s 6\n' "$run/hello-static" >"$work/script"
chmod +x "$work/script"
messages "script of a static interpreter" 6 "sfjit: * is statically linked;*" \
	"$work/script"
printf '#! /bin/sh -e\nexit 7\n' >"$work/script"
messages "script" 7 "" "$work/script"
printf 'exit 8\n' >"$work/script"
messages "text without #!" 8 "" "$work/script"
printf '#!/no/such/interpreter\n' >"$work/script"
messages "script without interpreter" 127 "sfjit: *: command not found" \
	"$work/script"

# An ELF header of a machine that is not this one.
cp "$run/hello" "$work/foreign"
printf '\377\376' | dd of="$work/foreign" bs=1 seek=18 conv=notrunc 2>/dev/null
"$sfjit" run -- "$work/foreign" >"$work/out" 2>"$work/err"
like "foreign architecture: message" \
	"sfjit: * is for another architecture; it runs without windows*" \
	"$(cat "$work/err")"

mkdir "$work/first" "$work/second"
printf '#!/bin/sh\n' >"$work/first/tool"
printf '#!/bin/sh\nexit 9\n' >"$work/second/tool"
chmod +x "$work/second/tool"
PATH="$work/first:$work/second:$PATH"
messages "PATH passes by what is not executable" 9 "" tool

set_id() {
	if [ "$(id -u)" != 0 ]; then
		skip "$1" "only root can make such a program"
		return
	fi
	chmod 755 "$work"
	install -m "$2" -g "$3" "$run/hello" "$work/set-id"
	setpriv --reuid=65534 --regid=65534 --clear-groups \
		"$sfjit" run -- "$work/set-id" 11 \
		>"$work/out" 2>"$work/err" || status=$?
	if [ ! -s "$work/out" ]; then
		skip "$1" "not runnable as another user from here"
		return
	fi
	is "$1: status" 11 "$status"
	like "$1: message" "*gains privileges*; it runs without windows*" \
		"$(cat "$work/err")"
}

set_id "set-user-ID" 4755 root
set_id "set-group-ID" 2755 root

"$sfjit" --help >"$work/out" 2>"$work/err"
is "--help: status" 0 $?
like "--help: text" "Usage: sfjit run*" "$(cat "$work/out")"
"$sfjit" run --help >"$work/out"
is "run --help: status" 0 $?
like "--version" "sfjit [0-9]*.[0-9]*" "$("$sfjit" --version)"
for arguments in "" "walk" "--wrong" "run" "run --wrong" "run -o"; do
	# shellcheck disable=SC2086 # a list of words
	"$sfjit" $arguments >"$work/out" 2>"$work/err"
	is "usage '$arguments': status" 125 $?
	is "usage '$arguments': nothing on standard output" "" \
		"$(cat "$work/out")"
done
finish
