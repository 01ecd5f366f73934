#!/bin/sh
# SPDX-License-Identifier: MIT
# SPDX-FileCopyrightText: 2026 The sfjit authors
#
# In the guest: functions of Lua in the stacks that perf records, of the lua5.4
# and the liblua5.4 of Debian, and of Lua and Python in one process.

# shellcheck source=tests/lib/case.sh
. "$(dirname "$0")/../../lib/case.sh"
# shellcheck source=tests/preload/lib.sh
. "$top/tests/preload/lib.sh"

export LUA_CPATH="$O/lib/lua/5.4/?.so"

# record SECONDS COMMAND...
record() {
	perf record -k CLOCK_MONOTONIC -e cpu-clock:u -F 999 \
		--call-graph=fp,defer -o "$tmp/perf.data" -- \
		"$sfjit" run -o "$log" -- "$@" >"$tmp/out" 2>"$tmp/err" &&
	perf script --no-inline -i "$tmp/perf.data" -F ip,sym \
		>"$tmp/samples" 2>>"$tmp/err"
}

# judge NAME KIND: nine of ten samples, once the program has begun
judge() {
	python3 tests/runtimes/lua/judge.py "$2" "$tmp/samples" \
		>"$tmp/judged" 2>"$tmp/wrong"
	read -r _good _none _bad <"$tmp/judged"
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

record lua5.4 -l sfjit tests/runtimes/lua/calls.lua 4
judge "a program of Lua" calls

# seen NAME STACK: by the judge, in a hundred samples
seen() {
	works "$1" grep -Eqx "# +[0-9]{3,} $2" "$tmp/wrong"
}

export PYTHONPATH="$O/lib/python"
record python3 -B -m sfjit --assist tests/runtimes/lua/languages.py 4
judge "Lua and Python" languages
both="hot inner loop call\(\) back\(\)"
from="loop call\(\) main\(\) <module>\(\)"
seen "Python calls Lua calls Python calls Lua" "$both outer $from"
seen "the same, from a coroutine" "$both body resume $from"

finish
