#!/bin/sh
# SPDX-License-Identifier: MIT
# SPDX-FileCopyrightText: 2026 The sfjit authors
#
# usage: profile.sh SECONDS LONG		in a guest
#
# Profiles the demo's Python program and a compiler at 999 Hz, by samples of the
# module sframe_probe, which counts their instructions: Python for so many seconds
# in each way, for LONG through windows; the compiler for one file if LONG is 1,
# else for many. Prints lines
#	mode NAME SAMPLES INSTRUCTIONS FRAMES
#	cut SAMPLES		of mode default: by the deadline
# Frames of mode dwarf are not counted.

set -eu
seconds=$1 long=$2
probe=/sys/module/sframe_probe/parameters
walk_us=/proc/sys/kernel/sframe_walk_us
period=1001001
program=tools/demo.d/workload.py
tmp=$(mktemp -d)
PYTHONPATH=$PWD/build/lib/python
export PYTHONPATH

with() { echo build/bin/sfjit run -- python3 -m sfjit $program "$tmp/stamp" "${1:-$seconds}"; }
without() { echo python3 $program "$tmp/stamp" "$seconds"; }

# profile OPTION... -- COMMAND...
profile() {
	echo $period >$probe/period
	perf record -q -e sframe_probe:sframe_probe --user-callchains \
		-o "$tmp/data" "$@" >"$tmp/log" 2>&1 || {
		cat "$tmp/log" >&2
		exit 1
	}
	echo 0 >$probe/period
}

frames() { perf script --no-inline -F ip -i "$tmp/data" 2>/dev/null | grep -c '[0-9a-f]'; }

# mode NAME FRAMES
mode() { echo "mode $1 $(cat $probe/samples) $(cat $probe/cycles) $2"; }

# Of all processes, until this one is killed.
watch_deadlines() {
	most=0
	while sleep 0.2; do
		now=$(cat /proc/[0-9]*/sframe 2>/dev/null |
			awk '$1 == "deadline" { nr += $2 } END { print nr + 0 }')
		[ "$now" -le $most ] || most=$now
		echo $most >"$tmp/cut"
	done
}

# shellcheck disable=SC2046
costs() {
	profile -- $(with)
	mode none 0
	profile --call-graph=fp -- $(without)
	mode fp "$(frames)"
	profile --call-graph=dwarf -- $(with)
	mode dwarf 0
	profile --call-graph=fp -- $(with "$long")
	mode windows "$(frames)"

	echo 250 >$walk_us
	watch_deadlines &
	profile --call-graph=fp -- $(with)
	kill $!
	mode default "$(frames)"
	echo "cut $(cat "$tmp/cut")"
}

# A process for each file, as a build has: profile_cc1 OPTION...
profile_cc1() {
	# shellcheck disable=SC2016 # for the inner shell
	set -- "$@" -- build/bin/sfjit run -- sh -c 'cc1=$1; shift; for file; do
		"$cc1" -quiet -fpreprocessed -O2 "$file" -o /dev/null || exit
	done' sh /usr/libexec/gcc/*/*/cc1
	if [ "$long" -gt 1 ]; then
		profile "$@" build/tests/bench/source/*.i
	else
		profile "$@" build/tests/bench/source/pack.i
	fi
}

costs
echo 1000000 >$walk_us
profile_cc1
mode cc1-none 0
profile_cc1 --call-graph=fp
mode cc1 "$(frames)"
rm -rf "$tmp"
