#!/bin/sh
# SPDX-License-Identifier: MIT
# SPDX-FileCopyrightText: 2026 The sfjit authors
#
# Recordings of a program with known calls, by this machine's perf: after sfjit
# inject the report has these stacks, and those that perf itself finds in the
# recording.

# shellcheck source=tests/lib/tap.sh
. "$(dirname "$0")/../lib/tap.sh"

# perf keeps copies of files there.
export HOME="$tmp"
sfjit=$O/bin/sfjit
edges=$O/tests/sfjit/programs/inject-edges
dwarf="-q -e cpu-clock -F 499 -k mono --call-graph=dwarf"

# shellcheck disable=SC2086 # options
perf record $dwarf -o "$tmp/data" true >"$tmp/said" 2>&1 ||
	skip_all "perf cannot record here"

# of_leaf RECORDING: prints stacks in leaf(), a line each, innermost frame first
of_leaf() {
	perf script --no-inline -F ip,sym -i "$1" 2>"$tmp/said" |
		python3 -B "$top/tests/lib/perfscript.py" --ip ip,sym |
		grep -E '^[^ ]*:leaf( |$)'
}

# recorded FILE ARGUMENT...: retries if there are few samples in leaf(), as perf
# loses samples that it has no time to read
recorded() {
	_file=$1
	shift
	for _ in $(seq 20); do
		if [ "$_file" = "$tmp/pipe" ]; then
			perf record -o - "$@" 2>"$tmp/said" >"$_file"
		else
			perf record -o "$_file" "$@" >"$tmp/said" 2>&1
		fi
		[ "$(of_leaf "$_file" | wc -l)" -le 300 ] || break
	done
}

# many NAME FILE: has nearly as many lines as a second has samples
many() {
	if [ "$(wc -l <"$2")" -gt 300 ]; then
		ok "$1"
	else
		not_ok "$1" "only $(wc -l <"$2") samples, $(head -n 1 "$2")"
	fi
}

# stacks NAME FILE WANT: all lines are equal to WANT
stacks() {
	is "$1" "$3" "$(sed -E 's/(^| )[0-9a-f]+:/\1/g
		s/ __libc_start.* _start$/ _start/' "$2" | sort -u)"
}

# header RECORDING: prints what inject does not change
header() {
	perf report --header-only -i "$1" 2>&1 | grep -v \
		'captured on\|data offset\|data size\|feat offset\|event : '
}

# ---- A file and a pipe ----------------------------------------------------

known="leaf middle outer main _start"
# shellcheck disable=SC2086
recorded "$tmp/data" $dwarf "$edges"
# shellcheck disable=SC2086
recorded "$tmp/pipe" $dwarf "$edges"
works "file" "$sfjit" inject -i "$tmp/data" -o "$tmp/data.out"
like "file: how stacks end" "*samples, *complete (* %), 0 lost; *" \
	"$(cat "$tmp/said")"
"$sfjit" inject -q -i - -o - <"$tmp/pipe" >"$tmp/pipe.out" 2>"$tmp/said"
is "pipe" "" "$(cat "$tmp/said")"
for form in data pipe; do
	of_leaf "$tmp/$form" >"$tmp/before"
	of_leaf "$tmp/$form.out" >"$tmp/after"
	many "$form: samples" "$tmp/after"
	stacks "$form: known frames" "$tmp/after" "$known"
	same "$form: those of perf" "$tmp/before" "$tmp/after"
done
"$sfjit" inject -q -i "$tmp/data" -o - 2>"$tmp/said" | cat >"$tmp/piped"
of_leaf "$tmp/piped" >"$tmp/before"
of_leaf "$tmp/data.out" >"$tmp/after"
same "a file to a pipe" "$tmp/after" "$tmp/before"
perf script -G -F comm,tid,time,event,period,ip \
	-i "$tmp/data" >"$tmp/before" 2>&1
perf script -G -F comm,tid,time,event,period,ip \
	-i "$tmp/data.out" >"$tmp/after" 2>&1
many "the rest of the samples: there is one" "$tmp/before"
same "the rest of the samples" "$tmp/before" "$tmp/after"
header "$tmp/data" >"$tmp/before"
header "$tmp/data.out" >"$tmp/after"
same "the header" "$tmp/before" "$tmp/after"
is "no copies of stacks are left" "" \
	"$(perf evlist -v -i "$tmp/data.out" 2>&1 | grep 'STACK_USER\|_user')"
is "a tenth of the bytes at most" yes "$([ $(($(stat -c %s "$tmp/data.out") *
	10)) -lt "$(stat -c %s "$tmp/data")" ] && echo yes)"
works "again: nothing is left to do" \
	"$sfjit" inject -q -i "$tmp/data.out" -o "$tmp/again"
same "again: the same file" "$tmp/data.out" "$tmp/again"

# ---- Compressed ------------------------------------------------------------

# shellcheck disable=SC2086
perf record -z $dwarf -o "$tmp/packed" true >"$tmp/said" 2>&1
if perf report --header-only -i "$tmp/packed" 2>&1 | grep -q '^# compressed'; then
	# shellcheck disable=SC2086
	recorded "$tmp/packed" -z $dwarf "$edges"
	works "compressed" "$sfjit" inject -i "$tmp/packed" -o "$tmp/packed.out"
	of_leaf "$tmp/packed" >"$tmp/before"
	of_leaf "$tmp/packed.out" >"$tmp/after"
	many "compressed: samples" "$tmp/after"
	stacks "compressed: known frames" "$tmp/after" "$known"
	same "compressed: those of perf" "$tmp/before" "$tmp/after"
	header "$tmp/packed" | grep -v '^# compressed' >"$tmp/before"
	header "$tmp/packed.out" | sed 's/ COMPRESSED//' >"$tmp/after"
	same "compressed: the header, which no longer says so" \
		"$tmp/before" "$tmp/after"
else
	skip "compressed" "this perf does not compress"
fi

# ---- Progress, on a terminal ----------------------------------------------

# on_terminal COMMAND: prints what it writes to a terminal, \r as newlines
on_terminal() { script -qec "$1" /dev/null </dev/null | tr '\r' '\n' | tr -d ' '; }

# grows: reads at least two numbers, each larger than the previous one
grows() {
	awk '$1 <= last { bad = 1 } { last = $1 } END { exit bad || NR < 2 }'
}

# shellcheck disable=SC2086
perf record $dwarf,32768 -F 999 -o "$tmp/large" "$edges" >"$tmp/said" 2>&1
on_terminal "$sfjit inject -i $tmp/large -o $tmp/large.out" >"$tmp/seen"
sed -n 's/^sfjit:\([0-9]*\)%$/\1/p' "$tmp/seen" >"$tmp/shares"
is "progress: shares that grow" yes "$(grows <"$tmp/shares" && echo yes)"
is "progress: not beyond all" yes \
	"$([ "$(tail -n 1 "$tmp/shares")" -le 100 ] && echo yes)"
like "progress: the last words are others" "sfjit:*samples,*complete*" \
	"$(grep -v '^sfjit:[0-9]*%$' "$tmp/seen" | grep .)"
# shellcheck disable=SC2086
perf record $dwarf,32768 -F 999 -o - "$edges" 2>"$tmp/said" >"$tmp/large"
on_terminal "cat $tmp/large | $sfjit inject -i - -o $tmp/large.out" |
	sed -n 's/^sfjit:\([0-9]*\)MiB$/\1/p' >"$tmp/shares"
is "progress: of a pipe, bytes" yes "$(grows <"$tmp/shares" && echo yes)"
is "progress: none with --quiet" "" "$(on_terminal \
	"$sfjit inject -q -i - -o $tmp/large.out <$tmp/large")"
"$sfjit" inject -i - -o "$tmp/large.out" <"$tmp/large" 2>"$tmp/said"
is "progress: none in a file" 0 "$(grep -c "$(printf '\r')" "$tmp/said")"
rm "$tmp"/large*

# ---- Code that is generated -----------------------------------------------

mkdir "$tmp/jit"
# shellcheck disable=SC2086
recorded "$tmp/data" $dwarf,1024 "$edges" "$tmp/jit"
unnamed="leaf [unknown] middle outer main _start"
named="leaf large middle outer main _start
leaf small middle outer main _start"
works "generated" "$sfjit" inject -i "$tmp/data" -o "$tmp/data.out"
of_leaf "$tmp/data.out" >"$tmp/after"
many "generated: samples" "$tmp/after"
stacks "generated: two frames at one address, by time" "$tmp/after" "$unnamed"
perf inject --jit -i "$tmp/data.out" -o "$tmp/named" 2>"$tmp/said"
of_leaf "$tmp/named" >"$tmp/after"
stacks "generated: names, by perf inject --jit of what is converted" \
	"$tmp/after" "$named"
perf inject --jit -i "$tmp/data" -o "$tmp/named" 2>"$tmp/said"
works "generated, named: converted" \
	"$sfjit" inject -i "$tmp/named" -o "$tmp/named.out"
of_leaf "$tmp/named.out" >"$tmp/after"
many "generated, named: samples" "$tmp/after"
stacks "generated: names, of before it was converted" "$tmp/after" "$named"

# shellcheck disable=SC2086
perf record ${dwarf%-k mono*} --call-graph=dwarf,1024 -o "$tmp/data" "$edges" \
	"$tmp/jit" >"$tmp/said" 2>&1
"$sfjit" inject -q -i "$tmp/data" -o "$tmp/data.out" 2>"$tmp/said"
like "generated: times of another clock are told" \
	"*jit-*.dump: its times are not those of the recording*" \
	"$(cat "$tmp/said")"

# ---- Code that is retired -------------------------------------------------

# perf's unwinder would keep the first mapping of an address, so do not use it.
# shellcheck disable=SC2086
recorded "$tmp/data" $dwarf,1024 "$edges" "$tmp/jit" plain
works "retired" "$sfjit" inject -q -i "$tmp/data" -o "$tmp/data.out"
of_leaf "$tmp/data.out" >"$tmp/after"
many "retired: samples" "$tmp/after"
stacks "retired: code that nobody describes is not taken for that before it" \
	"$tmp/after" "$unnamed"
works "retired: perf does not mind" \
	perf inject --jit -i "$tmp/data" -o "$tmp/named"
is "retired: nor does it say anything" "" "$(cat "$tmp/said")"
works "retired, named: converted" \
	"$sfjit" inject -q -i "$tmp/named" -o "$tmp/named.out"
of_leaf "$tmp/named.out" >"$tmp/after"
stacks "retired, named: perf has taken its memory out of the recording" \
	"$tmp/after" "$(printf 'leaf [unknown]\nleaf large\n%s' "$named")"
rm "$tmp"/jit/*.retired
"$sfjit" inject -q -i "$tmp/data" -o "$tmp/without" 2>"$tmp/said"
of_leaf "$tmp/data.out" >"$tmp/before"
of_leaf "$tmp/without" >"$tmp/after"
is "retired: without the log what follows the large one is wrong" yes \
	"$([ "$(($(grep -c 'middle .*outer .*main' "$tmp/after") * 10))" -lt \
	"$(($(wc -l <"$tmp/before") * 9))" ] && echo yes)"

# ---- A file that is replaced ----------------------------------------------

cp "$edges" "$tmp/inject-edges"
# shellcheck disable=SC2086
recorded "$tmp/data" $dwarf "$tmp/inject-edges"
printf '#!/bin/true\n' >"$tmp/inject-edges"
"$sfjit" inject -q -i "$tmp/data" -o "$tmp/data.out"
of_leaf "$tmp/data.out" >"$tmp/after"
many "replaced: samples" "$tmp/after"
stacks "replaced: perf record has a copy" "$tmp/after" "$known"
HOME=$tmp/none "$sfjit" inject -q -i "$tmp/data" -o "$tmp/data.out"
of_leaf "$tmp/data.out" >"$tmp/after"
stacks "replaced: without a copy nothing is used" "$tmp/after" leaf

# ---- Memory that is unmapped ----------------------------------------------

# The file of ld.so's cache is unmapped before main().
# shellcheck disable=SC2086
if perf record $dwarf -e syscalls:sys_enter_munmap/call-graph=no/ \
	-o "$tmp/data" "$edges" >"$tmp/said" 2>&1; then
	perf script -F pid,event,trace -i "$tmp/data" 2>"$tmp/said" |
		awk '/munmap: addr: 0x/ {
		print "munmap", $1, $4, $6
	}' | tr -d , | while read -r call pid addr length; do
		echo "$call $pid $(printf '%x %x' $((addr)) \
			$(((length + 4095) / 4096 * 4096)))"
	done >"$tmp/before"
	TRACKER_LOG=$tmp/log "$O/tests/sfjit/programs/inject-fake" inject -q \
		-i "$tmp/data" -o "$tmp/data.out"
	awk '$1 == "munmap" { print $1, $2, $4, $5 }' "$tmp/log" >"$tmp/after"
	like "unmapped: there is one" "munmap*" "$(cat "$tmp/after")"
	same "unmapped: as perf has it" "$tmp/before" "$tmp/after"
else
	skip "unmapped" "perf has no tracepoints here"
fi

# ---- Usage ----------------------------------------------------------------

is "no output: status" 125 "$("$sfjit" inject >"$tmp/out" 2>&1; echo $?)"
is "the input as output" "sfjit: $tmp/data: is the input, too
1" "$("$sfjit" inject -i "$tmp/data" -o "$tmp/data" 2>&1; echo $?)"
is "no such input" "sfjit: $tmp/none: No such file or directory
1" "$("$sfjit" inject -i "$tmp/none" -o "$tmp/new" 2>&1; echo $?)"
is "nothing is made then" no "$([ -e "$tmp/new" ] || echo no)"
is "a directory" "sfjit: $tmp: input: Is a directory
1" "$("$sfjit" inject -i "$tmp" -o "$tmp/new" 2>&1; echo $?)"
is "no room" "sfjit: standard output: No space left on device
1" "$("$sfjit" inject -i "$tmp/pipe" -o - 2>&1 >/dev/full; echo $?)"
finish
