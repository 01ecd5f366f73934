#!/bin/sh
# SPDX-License-Identifier: MIT
# SPDX-FileCopyrightText: 2026 The sfjit authors
#
# record.sh OUTPUT SECONDS NAME...: runs in the guest, with the tree as current
# directory.  Records each program of tests/system/jits and leaves in OUTPUT.tar.gz, a
# file of build/guest-out (the way out of the guest is slow), for each NAME.MODE,
#   .txt perf script   .truth the program's own   .cmd
#   .counters.PID why walks in this process ended, in its last second
#   .map its perf map, if the program wants memory that had several functions
#   to have none of their names
# and root/ with the ELF files that the samples hit.  MODE is before, without
# sfjit, fp or defer.  Programs that the oracle judges have .rec.gz instead of .txt,
# of the modes before and fp, which the recorder of tests/kernel/replay took.  `failed'
# has the NAMEs of which nothing is there.

set -eu
export LC_ALL=C.UTF-8
# shellcheck source=tools/modules.sh
. "$PWD/tools/modules.sh"

out=$PWD/$1
# shellcheck disable=SC2034 # by the programs
seconds=$2
shift 2
rate=${JITS_RATE:-499}
period=4000000
fields=comm,pid,tid,time,event,misc,ip,sym,symoff,dso,dsoff
sfjit=$PWD/build/bin/sfjit
options=		# of sfjit run, by the programs
without=		# by those that cover themselves: runs them as before
dir=$PWD/tests/system/jits

# With one processor Java takes another collector, and Mesa no threads.
export JDK_JAVA_OPTIONS=-XX:ActiveProcessorCount=2 LP_NUM_THREADS=2

die() {
	echo "record.sh: $*" >&2
	exit 1
}

failed() {
	[ -z "$watch" ] || kill "$watch"
	tail -n 20 "$base.log" >&2
	die "$1 of $base failed"
}

# Those that the oracle judges have flame graphs, too.
modes() {
	case $1 in
	ruby | php | perl | python) echo before fp before.rec fp.rec ;;
	*-native) echo before.rec fp.rec ;;
	*) echo before fp defer ;;
	esac
}

# record NAME MODE COMMAND...: under `sfjit run $options'
record() {
	base=$out/$1.$2 graph=fp run= watch=
	case $2 in
	before | before.rec) run=$without ;;
	*) [ -n "$without" ] || run="$sfjit run $options --" ;;
	esac
	[ "$2" != defer ] || graph=fp,defer
	shift 2
	echo "perf record -e cpu-clock:u --call-graph=$graph -- ${run:+${run##*/} }$*" |
		sed "s|$out/[^ ]*|LOG|; s|$dir|tests/system/jits|" >"$base.cmd"
	echo "jits: recording ${base##*/}"
	case $mode in
	*.rec) take_registers "$@" ;;
	*) take_stacks "$@" ;;
	esac
}

# The counters of each process with windows, again and again while it lives.
watch_counters() {
	while sleep 1; do
		for _file in /proc/[0-9]*/sframe; do
			read -r _line <"$_file" || continue
			case $_line in *-*) ;; *) continue ;; esac
			_pid=${_file#/proc/} _pid=${_pid%/sframe}
			sed -n '/^windows/,$p' "$_file" >/tmp/counters || :
			[ ! -s /tmp/counters ] ||
				mv /tmp/counters "$base.counters.$_pid"
		done
	done 2>/dev/null
}

# take_stacks COMMAND...: of $run
take_stacks() {
	watch_counters &
	watch=$!
	perf_record "$@"
	kill $watch
	watch=
	perf script --ns --no-inline -i /tmp/perf.data -F $fields \
		>"$base.txt" 2>>"$base.log" || failed "perf script"
	rm /tmp/perf.data
}

perf_record() {
	# shellcheck disable=SC2086 # words
	perf record -q -k CLOCK_MONOTONIC -e cpu-clock:u -F "$rate" \
		--call-graph="$graph" -o /tmp/perf.data -- $run "$@" \
		>"$base.log" 2>&1 || failed "perf record"
}

# The recorder takes the stacks at once and deferred, by turns.  Most of the room
# in the guest would go to copies of stacks.
take_registers() {
	# shellcheck disable=SC2086 # words
	build/tests/kernel/replay/recorder "$base" $period $run "$@" \
		>"$base.log" 2>&1 || failed recorder
	python3 "$dir/files.py" "$out/root" "$base"
	gzip -1 "$base"
}

all_modes() {
	# shellcheck disable=SC2034 # by the programs
	for mode in $(modes "$1"); do
		# shellcheck source=/dev/null
		. "$dir/$1.sh"
	done
}

# A subshell that is a condition would not end at an error.
attempt() {
	set +e
	(set -e && all_modes "$1")
	_status=$?
	set -e
	[ $_status != 0 ] || return 0
	rm -f "$out/$1".*
	echo "$1" >>"$out/failed"
}

[ -e /proc/self/sframe ] || die "this kernel has no SFrame windows"
mkdir -p "$out"
uname -r >"$out/kernel"
for name; do
	attempt "$name"
done
copy_modules "$out"
tar -C "$out" -cf - . | gzip -1 >"$out.tar.gz"
rm -rf "$out"
