#!/bin/sh
# SPDX-License-Identifier: MIT
# SPDX-FileCopyrightText: 2026 The sfjit authors
#
# Description: sfjit record profiles with this machine's perf and leaves exact
# call chains; the command keeps its input, output and status.

# shellcheck source=tests/lib/tap.sh
. "$(dirname "$0")/../lib/tap.sh"
sfjit=$O/bin/sfjit
cd "$tmp" || exit 1
# perf's build-id cache is there.
export HOME="$tmp"

perf record -q -e cpu-clock --call-graph=dwarf -o probe true >said 2>&1 ||
	skip_all "perf cannot record here"

# callers RECORDING: prints COMMAND:PID and the callers of each sample in work()
callers() {
	perf script --no-inline -F comm,pid,ip,sym -i "$1" 2>errors |
		python3 -B "$top/tests/lib/perfscript.py" comm,pid,ip,sym |
		awk '$3 == "work" { $1 = $1 ":" $2; $2 = ""; print }' |
		sed -E 's/  work / /; s/ __libc_start.* _start$/ _start/'
}

# has NAME LEAST STACKS: the file has at least so many of these lines
has() {
	if [ "$(wc -l <"$3")" -ge "$2" ]; then
		ok "$1"
	else
		not_ok "$1" "$(wc -l <"$3")"
	fi
}

# recorded LEAST ARGUMENT...: leaves stacks; retries if there are few, as perf
# loses samples that it has no time to read
recorded() {
	_least=$1
	shift
	for _ in $(seq 20); do
		"$sfjit" record -e cpu-clock -F 499 -o data "$@" || return
		callers data >stacks
		[ "$(wc -l <stacks)" -lt "$_least" ] || break
	done
}

works "a recording" recorded 300 -- "$O/tests/stacks/programs/stacks-edges"
known="first main _start
second main _start"
is "each stack is one of two" "$known" "$(sed 's/^[^ ]* //' stacks | sort -u)"
has "samples" 300 stacks
works "another recording, of the same" cp data other
is "perf diff compares it" 1 "$(perf diff data other 2>said |
	grep -c 'stacks-edges .*\[.\] work$')"
is "perf report takes a part of its time" "" "$(perf report --stdio \
	--time 0%-50% -i data 2>&1 | grep -i 'hint\|error\|invalid')"
like "its header has the command" "*--call-graph=dwarf*stacks-edges*" \
	"$(perf report --header-only -i data 2>&1 | grep '^# cmdline')"
is "no copies of stacks" "" "$(perf evlist -v -i data 2>&1 | grep STACK_USER)"
is "the clock of jitdumps" 1 "$(perf evlist -v -i data 2>&1 |
	grep -c 'clockid: 1')"

# names RECORDING: what perf calls the functions of "prog"
# A sample may be in the code of crt files, which runs before and after main().
names() {
	perf script -F ip,sym,dso -i "$1" 2>errors |
		sed -n 's|^[[:space:]]*[0-9a-f]* \(.*\) (.*/prog)$|\1|p' |
		sed 's/+0x.*//' | grep -v -e '^_' -e '^frame_dummy$' -e tm_clones |
		sort -u | xargs
}

cp "$O/tests/stacks/programs/stacks-edges" prog
works "a program that will be rebuilt" "$sfjit" record --quiet -e cpu-clock \
	-F 499 -o built -- ./prog
was="first main second work"
is "its names" "$was" "$(names built)"
cp "$O/tests/sfjit/programs/record-fork" new && mv new prog
is "its names after it was rebuilt" "$was" "$(names built)"
works "perf archive" perf archive built
mkdir -p there/.debug nothing
works "its files" tar xf built.tar.bz2 -C there/.debug
is "its names elsewhere" "$was" "$(HOME=$tmp/there names built)"
is "no names without the file" "[unknown]" "$(HOME=$tmp/nothing names built)"
cp "$O/tests/stacks/programs/stacks-edges" prog
works "no build-ids" "$sfjit" record --quiet -B -e cpu-clock -F 499 \
	-o built -- ./prog
is "no build-ids: none" "" "$(perf buildid-list -i built 2>said |
	grep "^[0-9a-f].*prog")"

# Units of 512 bytes: less than the samples take.
(ulimit -f 100; "$sfjit" record --quiet -e cpu-clock -F 499 -o part -- \
	"$O/tests/stacks/programs/stacks-edges") >said 2>&1
like "no room for all of it" "*File too large*recorded before that*" \
	"$(cat said)"
callers part >stacks
is "perf reads the part" "$known" "$(sed 's/^[^ ]* //' stacks | sort -u)"

# The recording no longer has the copies of stacks.
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

echo mine >mine.ends
is "another file where ends would be" \
	"sfjit: $tmp/mine.ends: is not a file that sfjit record wrote, and stays
0 mine" "$("$sfjit" record --quiet -e cpu-clock -o "$tmp/mine" -- true 2>&1
	echo $? "$(cat mine.ends)")"
# shellcheck disable=SC2016 # of that shell
is "a command that is killed: the status is perf's" \
	"$(perf record -q -e cpu-clock -o killed sh -c 'kill -9 $$' 2>said
	echo $?)" "$("$sfjit" record --quiet -e cpu-clock -o killed sh -c \
	'kill -9 $$' 2>said; echo $?)"
is "a command that is killed: files" "killed killed.ends killed.old" \
	"$(echo killed*)"

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

# A signal that ends perf ends the recording.
recorded_running() {
	for _ in $(seq 20); do
		rm -f data data.*
		"$O/tests/stacks/programs/stacks-edges" 2>/dev/null &
		"$sfjit" record -e cpu-clock -F 499 -o data -p $! || return
		callers data >stacks
		[ "$(wc -l <stacks)" -lt 100 ] || break
	done
}
works "a process that runs" recorded_running
is "a process that runs: files" "data data.ends" "$(echo data*)"
is "a process that runs: each stack is one of two" "$known" \
	"$(sed 's/^[^ ]* //' stacks | sort -u)"
has "a process that runs: samples" 100 stacks

# The child has the parent's mappings, then runs another program without them.
works "fork and exec" recorded 1200 -- \
	"$O/tests/sfjit/programs/record-fork" "$O/tests/stacks/programs/stacks-edges"
child=$(sed -n 's/^child //p' said | tail -n 1)
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

# A command that prints when it has been profiled for some time, and then waits.
mkfifo ready
# shellcheck disable=SC2016 # of that shell
printf '#!/bin/sh\n"$1" 2>/dev/null\necho $PPID $$ >ready\nread -r nothing <ready\n' \
	>waits
chmod +x waits
ends() {
	works "$1: what was recorded is a recording" perf script -i data
	callers data >stacks
	is "$1: each stack is one of two" "$known" \
		"$(sed 's/^[^ ]* //' stacks | sort -u)"
	has "$1: samples" 300 stacks
}
for signal in TERM:143 HUP:129 INT:130; do
	rm -f data data.*
	"$sfjit" record --quiet -e cpu-clock -F 499 -o data ./waits \
		"$O/tests/stacks/programs/stacks-edges" >said 2>&1 &
	read -r perf command <ready
	kill -"${signal%:*}" $!
	wait $! 2>messages
	is "SIG${signal%:*}: status" "${signal#*:}" $?
	ends "SIG${signal%:*}"
	is "SIG${signal%:*}: files" "data data.ends" "$(echo data*)"
	is "SIG${signal%:*}: the command has ended" no \
		"$(kill -0 "$command" 2>said || echo no)"
done

# perf has no time to write its last buffers.
rm -f data data.*
"$sfjit" record --quiet -e cpu-clock -F 499 -o data ./waits \
	"$O/tests/stacks/programs/stacks-edges" >said 2>&1 &
read -r perf command <ready
kill -KILL "$perf"
wait $! 2>messages
is "perf is killed: status" 137 $?
like "perf is killed: it is said" \
	"*sfjit: perf record was ended by signal 9 (Killed)*" "$(cat said)"
works "perf is killed: what was recorded is a recording" \
	"$sfjit" explain data
echo >ready

# The header tells how much of the file is whole.
rm -f data data.*
"$sfjit" record --quiet -e cpu-clock -F 4999 -o data ./waits \
	"$O/tests/stacks/programs/stacks-edges" >said 2>&1 &
read -r perf command <ready
kill -KILL $!
wait $! 2>messages
kill -KILL "$perf" "$command"
mv .sfjit-* data
is "sfjit is killed: perf reads the file" "" \
	"$(perf script -i data 2>&1 >printed | grep -i 'data size\|fail')"
ends "sfjit is killed"

# perf's own file is read to its end, too.
perf record -q -e cpu-clock -F 499 --call-graph=dwarf -o raw ./waits \
	"$O/tests/stacks/programs/stacks-edges" >said 2>&1 &
read -r perf command <ready
kill -KILL "$perf"
wait $! 2>messages
is "a file that perf did not finish" "sfjit: perf record did not finish the \
recording: it is read up to its end
0" "$("$sfjit" inject -q -i raw -o data 2>&1; echo $?)"
ends "a file that perf did not finish"
echo >ready

mkdir bin
is "no perf" "sfjit: perf is not installed: apt-get install linux-perf
127" "$(PATH=$tmp/bin "$sfjit" record -o new -- /bin/true 2>&1; echo $?)"
is "no such directory" "sfjit: none/data: No such file or directory" \
	"$("$sfjit" record -e cpu-clock -o none/data -- true 2>&1 |
		grep sfjit:)"
finish
