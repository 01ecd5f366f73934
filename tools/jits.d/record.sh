#!/bin/sh
# SPDX-License-Identifier: MIT
# SPDX-FileCopyrightText: 2026 The sfjit authors
#
# record.sh SECONDS NAME...: runs in the guest, with the tree as current
# directory.  Records each program of tests/jits and leaves in
# build/guest-out/jits.tar.gz (the way out of the guest is slow), for each
# NAME.MODE,
#   .txt perf script   .truth the program's own   .cmd
# and root/ with the ELF files that the samples hit.  MODE is before, without
# sfjit, fp or defer.

set -eu
export LC_ALL=C.UTF-8

# shellcheck disable=SC2034 # by the programs
seconds=$1
shift
out=$PWD/build/guest-out/jits
rate=${JITS_RATE:-499}
fields=comm,pid,tid,time,event,misc,ip,sym,symoff,dso,dsoff
sfjit=$PWD/build/bin/sfjit
dir=$PWD/tests/jits

die() {
	echo "record.sh: $*" >&2
	exit 1
}

failed() {
	tail -n 20 "$base.log" >&2
	die "$1 of $base failed"
}

# record NAME MODE COMMAND...
record() {
	base=$out/$1.$2 graph=fp run=
	case $2 in
	before) ;;
	fp) run="$sfjit run --" ;;
	defer) run="$sfjit run --" graph=fp,defer ;;
	esac
	shift 2
	echo "perf record -e cpu-clock:u --call-graph=$graph -- ${run##*/}$*" |
		sed "s|$out/[^ ]*|LOG|; s|$dir|tests/jits|" >"$base.cmd"
	echo "jits: recording ${base##*/}"
	# shellcheck disable=SC2086 # words
	perf record -q -k CLOCK_MONOTONIC -e cpu-clock:u -F "$rate" \
		--call-graph="$graph" -o /tmp/perf.data -- $run "$@" \
		>"$base.log" 2>&1 || failed "perf record"
	perf script --ns --no-inline -i /tmp/perf.data -F $fields \
		>"$base.txt" 2>>"$base.log" || failed "perf script"
	rm /tmp/perf.data
}

# The analysis reads their .eh_frame.
copy_modules() {
	mkdir -p "$out/root"
	sed -n 's/^\t.* (\(\/[^ ]*\)+0x[0-9a-f]*)$/\1/p' "$out"/*.txt |
		sort -u | while read -r file; do
		case $file in /tmp/perf-*.map) continue ;; esac
		[ ! -f "$file" ] || cp -L --parents "$file" "$out/root"
	done
}

[ -e /proc/self/sframe ] || die "this kernel knows no SFrame windows"
mkdir -p "$out"
uname -r >"$out/kernel"
for name; do
	# shellcheck disable=SC2034 # by the programs
	for mode in before fp defer; do
		# shellcheck source=/dev/null
		. "$dir/$name.sh"
	done
done
copy_modules
tar -C "$out" -cf - . | gzip -1 >"$out.tar.gz"
rm -rf "$out"
