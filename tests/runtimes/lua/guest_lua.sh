#!/bin/sh
# SPDX-License-Identifier: MIT
# SPDX-FileCopyrightText: 2026 The sfjit authors
#
# In the guest: functions of Lua in the stacks that perf records, of the lua5.4
# and the liblua5.4 of Debian, and of Lua and Python in one process.

# shellcheck source=tests/lib/tap.sh
. "$(dirname "$0")/../../lib/tap.sh"
# shellcheck source=tests/preload/lib.sh
. "$top/tests/preload/lib.sh"

export LUA_CPATH="$O/lib/lua/5.4/?.so"

# record COMMAND...
record() {
	perf record -k CLOCK_MONOTONIC -e cpu-clock:u -F 999 \
		--call-graph=fp,defer -o "$tmp/perf.data" -- \
		"$sfjit" run -o "$log" -- "$@" >"$tmp/out" 2>"$tmp/err" &&
	perf script --no-inline -i "$tmp/perf.data" -F ip,sym \
		>"$tmp/samples" 2>>"$tmp/err"
}

# seen STACK: by the judge, in a hundred samples
seen() {
	grep -Eqx "# +[0-9]{3,} $1" "$tmp/wrong"
}

# enough STACK...: as many as are wanted, each of these, too
enough() {
	[ "$_good" -ge 100 ] || return 1
	for _stack; do
		seen "$_stack" || return 1
	done
}

# judge NAME KIND COMMAND STACK...: nine of ten samples, once the program has begun,
# which runs for so many seconds that there are enough
judge() {
	_name=$1 _kind=$2 _command=$3
	shift 3
	for _seconds in 4 40 400; do
		# shellcheck disable=SC2086 # words
		record $_command $_seconds
		python3 tests/runtimes/lua/judge.py "$_kind" "$tmp/samples" \
			>"$tmp/judged" 2>"$tmp/wrong"
		read -r _good _none _bad <"$tmp/judged"
		! enough "$@" || break
	done
	set -- "$_name"
	sed 's/^/# /' "$tmp/wrong"
	echo "# $1: $_good good, $_none without Lua, $_bad wrong"
	is "$1: none is wrong" 0 "$_bad"
	if [ "$_good" -ge 100 ] && [ "$_good" -ge $((_none * 9)) ]; then
		ok "$1: nearly all have their functions"
	else
		not_ok "$1: nearly all have their functions" \
			"$_good of $((_good + _none)): $(tail -n 3 "$tmp/err")"
	fi
}

is "the module finds all it needs" true \
	"$(lua5.4 -l sfjit -e 'print(sfjit.assist())' 2>&1)"

judge "a program of Lua" calls "lua5.4 -l sfjit tests/runtimes/lua/calls.lua"

export PYTHONPATH="$O/lib/python"
both="hot inner loop call\(\) back\(\)"
from="loop call\(\) main\(\) <module>\(\)"
judge "Lua and Python" languages \
	"python3 -B -m sfjit --assist tests/runtimes/lua/languages.py" \
	"$both outer $from" "$both body resume $from"
works "Python calls Lua calls Python calls Lua" seen "$both outer $from"
works "the same, from a coroutine" seen "$both body resume $from"

finish
