#!/bin/sh
# SPDX-License-Identifier: MIT
# SPDX-FileCopyrightText: 2026 The sfjit authors
#
# Description: sfjit record profiles with the perf of this machine, and leaves
# call chains that are exact; the command keeps its input, output and status.

# shellcheck source=tests/lib/tap.sh
. "$(dirname "$0")/../lib/tap.sh"
sfjit=$O/bin/sfjit
cd "$tmp" || exit 1

perf record -q -e cpu-clock --call-graph=dwarf -o probe true >said 2>&1 ||
	skip_all "perf cannot record here"

# callers RECORDING: of each sample in work() whose it is, COMMAND:PID, and its
# callers
callers() {
	perf script --no-inline -F comm,pid,ip,sym -i "$1" 2>said |
		python3 -B "$top/tests/lib/perfscript.py" comm,pid,ip,sym |
		awk '$3 == "work" { $1 = $1 ":" $2; $2 = ""; print }' |
		sed -E 's/  work / /; s/ __libc_start.* _start$/ _start/'
}

# has NAME LEAST STACKS: as many lines are in a file
has() {
	if [ "$(wc -l <"$3")" -ge "$2" ]; then
		ok "$1"
	else
		not_ok "$1" "$(wc -l <"$3")"
	fi
}

works "a recording" "$sfjit" record -e cpu-clock -F 499 -o data -- \
	"$O/tests/stacks/programs/stacks-edges"
callers data >stacks
known="first main _start
second main _start"
is "each stack is one of two" "$known" "$(sed 's/^[^ ]* //' stacks | sort -u)"
has "samples" 300 stacks
is "no copies of stacks" "" "$(perf evlist -v -i data 2>&1 | grep STACK_USER)"
is "the clock of jitdumps" 1 "$(perf evlist -v -i data 2>&1 |
	grep -c 'clockid: 1')"

# What the copies of stacks were is not in the recording any more.
works "short copies" "$sfjit" record --quiet -e cpu-clock -F 499 --stack=8 \
	-o short -- "$O/tests/stacks/programs/stacks-edges"
why() {
	"$sfjit" explain --json "$1" 2>said | python3 -c '
import json, sys
ends = json.load(sys.stdin)["ends"]
print("%(module)s: %(why)s" % max(ends, key=lambda end: end["samples"]))'
}
is "explained" "stacks-edges: the copy of the stack ends" "$(why short)"
is "its mode" 600 "$(stat -c %a short.ends)"
works "over it" "$sfjit" record --quiet -e cpu-clock -o short -- true
works "it has its own" test -s short.ends
is "explained under its new name" \
	"stacks-edges: the copy of the stack ends" "$(why short.old)"
is "explained without" \
	"stacks-edges: its call frame information was not used" \
	"$(rm short.old.ends; why short.old)"

works "again" "$sfjit" record --quiet -e cpu-clock -o data -- true
works "what was there is kept" test -s data.old
is "quiet" "" "$("$sfjit" record --quiet -e cpu-clock -o data -- true 2>&1)"

echo "one  two" >input
# shellcheck disable=SC2016 # of that shell
is "input, arguments, output and status are the command's" 'one  two
a  b,*
err
3' "$("$sfjit" record --quiet -e cpu-clock -o data -- sh -c \
	'cat; echo "$1,$2"; echo err >&2; exit 3' sh 'a  b' '*' <input 2>&1
	echo $?)"
is "standard output alone" out "$("$sfjit" record --quiet -e cpu-clock -o data \
	-- sh -c 'echo out; echo err >&2' 2>/dev/null)"

# The recording ends with what ends perf.
"$O/tests/stacks/programs/stacks-edges" 2>/dev/null &
works "a process that runs" "$sfjit" record -e cpu-clock -F 499 -o data -p $!
callers data >stacks
is "a process that runs: each stack is one of two" "$known" \
	"$(sed 's/^[^ ]* //' stacks | sort -u)"
has "a process that runs: samples" 100 stacks

# Its child has the parent's mappings and goes on to another program, which has
# none of them.
works "fork and exec" "$sfjit" record -e cpu-clock -F 499 -o data -- \
	"$O/tests/sfjit/programs/record-fork" "$O/tests/stacks/programs/stacks-edges"
child=$(sed -n 's/^child //p' said)
callers data | sed "s/:$child / child /; s/:[0-9]* / parent /" >stacks
is "fork and exec: each stack is known" \
	"record-fork child in_child launch main _start
record-fork parent before main _start
record-fork parent in_parent launch main _start
stacks-edges child first main _start
stacks-edges child second main _start" "$(sort -u stacks)"
for whose in "record-fork child" "record-fork parent before" \
	"record-fork parent in_parent" "stacks-edges child"; do
	grep "^$whose" stacks >some
	has "fork and exec: $whose" 50 some
done

is "no command" 125 "$("$sfjit" record -- >out 2>&1; echo $?)"
for stack in 0 7 65536 8x -8 ''; do
	is "--stack=$stack" 125 \
		"$("$sfjit" record --stack="$stack" -- true >out 2>&1; echo $?)"
done
"$sfjit" record -o new --no-such-option -- true >out 2>&1
status=$?
is "an option that perf does not know" "129 no" \
	"$status $([ -e new ] && echo yes || echo no)"
is "of which perf speaks alone" 0 "$(grep -c sfjit: out)"
mkdir bin
is "no perf" "sfjit: perf: No such file or directory
127" "$(PATH=$tmp/bin "$sfjit" record -o new -- true 2>&1; echo $?)"
is "no such directory" "sfjit: none/data: No such file or directory" \
	"$("$sfjit" record -e cpu-clock -o none/data -- true 2>&1 |
		grep sfjit:)"
finish
