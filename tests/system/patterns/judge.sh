#!/bin/sh
# SPDX-License-Identifier: MIT
# SPDX-FileCopyrightText: 2026 The sfjit authors
#
# What the judge of tests/system/patterns says of stacks that are known to be exact, and
# of known bad ones.

# shellcheck source=tests/lib/tap.sh
. "$(dirname "$0")/../../lib/tap.sh"

command -v python3 >/dev/null || skip_all "python3 is not installed"

log=/tmp/sfjit-$$.names
trap 'rm -f "$log"; end $?' EXIT
printf '%s\n' 'load 5 1000 40 f1>leaf' 'load 5 2000 40 g>f1,leaf' >"$log"
printf '%s\n' "pid $$" 'begin 10000000000' 'end 20000000000' >"$tmp/out"
printf '%s\n' '_start libc' 'main run' 'main libc' 'run *' 'leaf libc' \
	'work run' >"$tmp/calls"

# frame WORD: as perf prints it; of generated code the name is that of the log
frame() {
	case $1 in
	f1) printf '\t1010 [unknown] (/memfd:jit)\n' ;;
	g) printf '\t2010 [unknown] (/memfd:jit)\n' ;;
	libc) printf '\t7000 [unknown] (/usr/lib/libc.so.6)\n' ;;
	clone) printf '\t7777 [unknown] (/usr/lib/libc.so.6)\n' ;;
	plt) printf '\t400 .plt+0x6 (/there/program)\n' ;;
	outside) printf '\t666 [unknown] (/usr/lib/other.so)\n' ;;
	*) printf '\t401 %s+0x8 (/there/program)\n' "$1" ;;
	esac
}

# stacks "FRAME..."...: one each, the innermost frame first
stacks() {
	for _stack; do
		echo "12.000000001: "
		for _frame in $_stack; do
			frame "$_frame"
		done
		echo
	done
}

# said NAME "EXACT WRONG INCOMPLETE" "FRAME..."...
said() {
	_name=$1 _want=$2
	shift 2
	is "$_name" "$# $_want" "$(stacks "$@" | tests/system/patterns/judge program \
		"$tmp/out" "$tmp/calls" 2>&1 | head -n 1 | cut -d ' ' -f 1-4)"
}

bottom="main libc libc _start"
said "below main()" "1 0 0" "leaf f1 g run $bottom"
said "in a thread" "1 0 0" "libc leaf f1 run work libc clone"
said "in an entry of the PLT, not bound yet" "1 0 0" "libc plt $bottom"
said "a caller is missing" "0 1 0" "leaf run $bottom"
said "another is called" "0 1 0" "leaf g f1 run $bottom"
said "somebody in between" "0 1 0" "leaf outside run $bottom"
said "cut in generated code" "0 0 1" "leaf f1"
said "cut in the C library" "0 0 1" "libc libc"
said "a thread that begins or ends" "2 0 0" "run work libc clone" \
	"libc libc clone"
said "the same, cut" "1 0 1" "run work libc clone" "libc libc libc"
said "below an end that only main() has" "1 0 1" "run main libc clone _start" \
	"libc clone"
finish
