# SPDX-License-Identifier: MIT
# SPDX-FileCopyrightText: 2026 The sfjit authors
# shellcheck shell=sh disable=SC2034,SC2154
#
# For the tests of sfjit cache; sourced after tests/preload/lib.sh.

# fills NAME STATUS ARGUMENT...: output is in $tmp/out and $tmp/err
fills() {
	name=$1 want=$2
	shift 2
	"$sfjit" cache "$@" >"$tmp/out" 2>"$tmp/err" </dev/null
	is "$name: status" "$want" $?
}

# said FILE: the result for it, without its size
said() {
	sed -n "s|^\([a-z]*\)  *[-0-9]*  *\([^ ]*/\)*$1\(: .*\)\{0,1\}$|\1\3|p" \
		"$tmp/out"
}

export LC_ALL=C

# sources: prints where the tables of all modules of a run came from
sources() {
	is "$1: output" hello "$(register "$run/hello")"
	is "$1" "$2" "$(sed -n 's/.*source=\([a-z]*\).*/\1/p' "$log" |
		sort -u | xargs)"
}

# message NAME STATUS WANT ARGUMENT...
message() {
	name=$1 want=$2 text=$3
	shift 3
	fills "$name" "$want" "$@"
	is "$name: message" "$text" "$(cat "$tmp/err")"
}
