#!/bin/sh
# SPDX-License-Identifier: MIT
# SPDX-FileCopyrightText: 2026 The sfjit authors
#
# record.sh OUTPUT: runs in the guest, with the tree as current directory.
# Records each workload without and with sfjit and leaves OUTPUT.tar.gz (the way
# out of the guest is slow) with, for each NAME.MODE,
#   .data perf.data   .txt perf script   .truth the workload's own   .cmd
# and kernel, and root/ with the ELF files that the samples hit.

set -eu
export LC_ALL=C.UTF-8
# shellcheck source=tools/modules.sh
. "$PWD/tools/modules.sh"

out=$1
seconds=${DEMO_SECONDS:-9}
rate=${DEMO_RATE:-1499}
wanted=${DEMO_SAMPLES:-12000}
fields=comm,pid,tid,time,event,misc,ip,sym,symoff,dso,dsoff
sfjit=build/bin/sfjit
ctramp=build/tests/system/demo/c-trampolines
program=tools/demo.d/workload.py
PYTHONPATH=$PWD/build/lib/python
export PYTHONPATH

die() {
	echo "record.sh: $*" >&2
	exit 1
}

# What a user would type: without the arguments that only serve the analysis.
command_line() {
	case "$*" in
	*'-m sfjit'*) printf 'PYTHONPATH=build/lib/python ' ;;
	esac
	echo "perf record -e cpu-clock --call-graph=$graph -- $*" |
		sed 's| [^ ]*\.truth @seconds||'
}

failed() {
	cat "$base.log" >&2
	die "$1 of $base failed"
}

# perf_record [OPTION...] -- COMMAND...: the samples, and as text
# -k only makes the times comparable with those of the workloads.
perf_record() {
	for word; do
		shift
		[ "$word" != @seconds ] || word=$time
		set -- "$@" "$word"
	done
	perf record -q -k CLOCK_MONOTONIC -e cpu-clock -F "$rate" \
		--call-graph="$graph" -o "$base.data" "$@" >>"$base.log" 2>&1 ||
		failed "perf record"
	perf script --ns --no-inline -i "$base.data" -F $fields \
		>"$base.txt" 2>>"$base.log" || failed "perf script"
}

# Of user space, since the workload's own beginning.
count_samples() {
	awk -v begin="$(sed -n 's/^begin //p' "$base.truth")" '
		/^[^\t]/ && match($0, /[0-9]  *U  *[0-9.]*: /) {
			split(substr($0, RSTART), word, /  *|: /)
			nr += word[3] >= begin + 0
		}
		END { print nr + 0 }'
}

attempt() {
	rm -f "$base.truth" "$base.log"
	echo "demo: recording ${base##*/}, $time s"
	perf_record -- "$@"
	samples=$(count_samples <"$base.txt")
}

# A machine with other work to do yields fewer samples in the same time: then
# once more, for as long as it should take.
record() {
	base=$out/$1 graph=$2 time=$seconds
	shift 2
	command_line "$@" >"$base.cmd"
	attempt "$@"
	if [ "$samples" -lt "$wanted" ]; then
		time=$((time * wanted * 3 / 2 / (samples + 1) + 1))
		[ "$time" -lt 200 ] || time=200
		attempt "$@"
	fi
}

c_trampolines() {
	record c-trampolines.before fp \
		$ctramp "$out/c-trampolines.before.truth" @seconds unregistered
	record c-trampolines.after fp $sfjit run -- \
		$ctramp "$out/c-trampolines.after.truth" @seconds
}

# Without sfjit Python's own trampolines give the names, so that both graphs
# could show the same functions.
python() {
	record "$1.before" "$2" \
		python3 -X perf $program "$out/$1.before.truth" @seconds
	record "$1.after" "$2" $sfjit run -- \
		python3 -m sfjit $program "$out/$1.after.truth" @seconds
}

# Python is asked for its functions: there are no trampolines.
python_assisted() {
	record "$1.assisted" fp,defer $sfjit run -- \
		python3 -m sfjit --assist $program "$out/$1.assisted.truth" @seconds
}

# For the tests: a process that runs already, where sfjit attach is for the machine.
python_attached() {
	base=$out/python.attached graph=fp time=$seconds
	python3 -m sfjit $program "$base.program" $((seconds + 60)) &
	pid=$!
	until [ -s "$base.program" ]; do
		kill -0 $pid || die "$base ended"
		sleep 0.1
	done
	$sfjit attach $pid >"$base.log" 2>&1 || failed "sfjit attach"
	echo "pid $pid" >"$base.truth"
	awk '{ printf "begin %s0000000\n", $1 }' /proc/uptime >>"$base.truth"
	perf_record -p $pid -- sleep @seconds
	kill $pid
	rm "$base.program"
}

[ -e /proc/self/sframe ] || die "this kernel has no SFrame windows"
mkdir -p "$out"
uname -rm >"$out/kernel"
c_trampolines
python python fp
python python-defer fp,defer
python_assisted python-defer
[ -z "${DEMO_ATTACH-}" ] || python_attached
copy_modules "$out"
tar -C "$out" -cf - . | gzip -1 >"$out.tar.gz"
rm -rf "$out"
echo "demo: recorded"
