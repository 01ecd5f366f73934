#!/bin/sh
# SPDX-License-Identifier: MIT
# SPDX-FileCopyrightText: 2026 The sfjit authors
#
# Description: sfjit explain for recordings, by this machine's perf, of programs
# with known calls: each sample ends where it must, with the right reason.

# shellcheck source=tests/lib/tap.sh
. "$(dirname "$0")/../lib/tap.sh"
export HOME="$tmp"
sfjit=$O/bin/sfjit
run=$O/tests/sfjit/programs

perf record -q -e cpu-clock --call-graph=fp -o "$tmp/data" true \
	>"$tmp/said" 2>&1 || skip_all "perf cannot record here"

# profile EVENT GRAPH PROGRAM
profile() {
	perf record -q -e "$1" -F 499 --call-graph="$2" -o "$tmp/data" "$3" \
		>"$tmp/said" 2>&1
}

# Samples whose first address is in the program, as perf prints it; others are
# in the kernel, before the program's first instruction or after its last.
in_program() {
	perf script -G -F ip,dso -i "$tmp/data" 2>"$tmp/said" |
		grep -c "$1"
}

# ends NAME PROGRAM COMPLETE [SAMPLES SHARE MODULE WHY...]: all samples are
# complete (if COMPLETE is all) or end in one way
ends() {
	_name=$1 _nr=$(in_program "$2")
	if [ "$_nr" -lt 20 ]; then
		not_ok "$_name: samples" "$_nr"
	fi
	"$sfjit" explain --json "$tmp/data" >"$tmp/json" 2>"$tmp/said"
	is "$_name: nothing else is said" "" "$(cat "$tmp/said")"
	is "$_name" "$3" "$(python3 - "$tmp/json" "$_nr" <<-'END'
	import json, sys
	with open(sys.argv[1], encoding='utf-8') as file:
	    found = json.load(file)
	least, all_of_them = int(sys.argv[2]), found['samples'] - found['without']
	parts = [(end['samples'], end['module'], end['why'])
	         for end in found['ends']]
	parts.append((found['complete'], 'complete', ''))
	assert all_of_them == sum(part[0] for part in parts)
	# A kernel sample may be from before the program's first call.
	print(*(' '.join(part[1:]).strip() for part in parts
	        if part[0] > all_of_them - least))
	if max(parts)[0] < least:
	    print('only %d of %d' % (max(parts)[0], least))
	END
	)"
}

for graph in dwarf fp; do
	profile cpu-clock $graph "$run/explain-fp"
	ends "$graph: frame pointers" explain-fp complete
	profile cpu-clock $graph "$run/explain-bare"
	ends "$graph: no call frame information" explain-bare \
		"explain-bare no call frame information"
done

profile cpu-clock dwarf "$run/explain-table"
ends "dwarf: call frame information" explain-table complete
works "converted" "$sfjit" inject -i "$tmp/data" -o "$tmp/chains"
mv "$tmp/chains" "$tmp/data"
ends "converted: the same" explain-table complete
profile cpu-clock fp "$run/explain-table"
ends "fp: call frame information alone" explain-table \
	"explain-table its call frame information was not used"
cp "$tmp/data" "$tmp/alone"
profile cpu-clock dwarf "$run/explain-gap"
ends "dwarf: a function without" explain-gap \
	"explain-gap no rule for the address"
profile cpu-clock dwarf "$run/explain-copy"
ends "dwarf: generated code" explain-copy \
	"[generated code] damaged rule or stack"
profile cpu-clock dwarf,8 "$run/explain-table"
ends "dwarf: a short copy" explain-table \
	"explain-table the copy of the stack ends"
profile cpu-clock/max-stack=2/ fp "$run/explain-fp"
ends "fp: two addresses" explain-fp "explain-fp too long"
"$sfjit" explain "$tmp/data" >"$tmp/out"
is "its remedy" "    fix: sysctl kernel.perf_event_max_stack=1024" \
	"$(grep fix: "$tmp/out")"

# File names depend on the machine.
bad=$(printf 'gone\033[31m')
cp "$run/explain-table" "$tmp/$bad"
profile cpu-clock dwarf "$tmp/$bad"
rm "$tmp/$bad"
cp "$run/explain-fp" "$tmp/$bad"
rm -rf "$tmp/.debug"
ends "a file that is replaced" gone \
	"$(printf 'gone\357\277\275[31m the file is not there, or another')"
"$sfjit" explain "$tmp/data" >"$tmp/out"
is "nothing that a terminal acts on" "" \
	"$(tr -d '\n' <"$tmp/out" | tr -dc '\000-\037')"

# A pipe gives the same.
perf record -q -e cpu-clock -F 499 --call-graph=fp -o - "$run/explain-table" \
	>"$tmp/data" 2>"$tmp/said"
is "a pipe: all samples" "0 1" "$("$sfjit" explain - <"$tmp/data" | awk '
	NR == 1 { complete = $1 }
	$4 == "explain-table" { rows++ }
	END { print complete, rows }')"

perf record -q -e cpu-clock -F 499 -o "$tmp/data" "$run/explain-table" \
	>"$tmp/said" 2>&1
like "no stacks" "0 of 0 samples complete*fix: record with*" \
	"$("$sfjit" explain "$tmp/data")"

# Processes of sfjit run are pointed to its reasons.
if [ -e "$O/lib/sfjit/libsfjit-preload.so" ]; then
	perf record -q -e cpu-clock -F 499 --call-graph=fp -o "$tmp/data" \
		"$sfjit" run -- "$O/tests/stacks/programs/stacks-edges" >"$tmp/said" 2>&1
	like "under sfjit run" "*fix: sfjit doctor shows*" \
		"$("$sfjit" explain "$tmp/data")"
	perf record -q -e cpu-clock -F 499 --call-graph=fp -o "$tmp/data" \
		"$O/tests/stacks/programs/stacks-edges" >"$tmp/said" 2>&1
	like "without" "*fix: sfjit record on any*" \
		"$("$sfjit" explain "$tmp/data")"
	is "without: nothing else" 0 \
		"$("$sfjit" explain "$tmp/data" | grep -c "sfjit doctor")"
fi

# Beside a daemon, with a library in the place of the kernel.
beside="env KERNEL=$tmp/kernel LD_PRELOAD=$run/daemon-kernel.so"
mkdir -p "$tmp/kernel/proc"
$beside "$sfjit" daemon &
daemon=$!
mkdir "$tmp/kernel/proc/$daemon"
until [ -e "$tmp/kernel/ring.0" ]; do :; done
like "beside sfjit daemon" "*fix: record again if sfjit ps --files shows*" \
	"$($beside "$sfjit" explain "$tmp/alone")"
kill $daemon
wait $daemon
rm -r "$tmp/kernel/proc/$daemon"
like "after it" "*fix: sfjit record on any kernel; *" \
	"$($beside "$sfjit" explain "$tmp/alone")"

is "two files: status" 125 "$("$sfjit" explain a b >"$tmp/out" 2>&1; echo $?)"
is "no such file" "sfjit: $tmp/none: No such file or directory
1" "$("$sfjit" explain "$tmp/none" 2>&1; echo $?)"
is "no room" 125 "$("$sfjit" explain "$tmp/data" 2>"$tmp/said" >/dev/full
	echo $?)"
finish
