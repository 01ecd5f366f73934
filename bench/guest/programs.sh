# SPDX-License-Identifier: MIT
# SPDX-FileCopyrightText: 2026 The sfjit authors
# shellcheck shell=sh
#
# programs.sh NAME...: in the guest, with the tree as current directory.  Does the
# work of bench/guest/programs/NAME.sh plain and with sfjit, records it and judges
# each sample.  Prints, with tabs,
#
#	sample NAME plain|sfjit N LINE	so many of this line of the oracle
#	same NAME 0|1		whether output and status were the same
#	failed NAME WHY
#
# A program is a script, sourced in an empty directory with $here, its own
# directory, and $mode, plain or sfjit. `once' precedes commands that run only
# once.
#
#	run COMMAND...		does a part of the work
#	attach NAME START READY WORK
#				shell commands: START becomes a server, whose
#				processes are called NAME; READY succeeds when it
#				is; WORK asks it.  $server is its number
#	attach_waiting NAME COMMAND
#				COMMAND waits for a line, works and ends

set -eu
export LC_ALL=C.UTF-8
top=$PWD
here=$top/bench/guest/programs
sfjit=$top/build/bin/sfjit
recorder=$top/build/tests/kernel/replay/recorder
oracle=$top/build/tests/system/jits/oracle
period=1000000
work=/tmp/work

say() { printf '%s\n' "bench: $*" >&2; }

once() { [ "$mode" = plain ]; }

# judge RECORD [BEGIN END NAME]: adds the oracle's lines
judge() {
	_record=$1
	shift
	[ $# != 0 ] || set -- 0 9223372036854775807
	python3 "$top/tests/system/jits/files.py" /
	"$oracle" "$_record" / "$@" >>"/tmp/$name.$mode.lines"
	rm "$_record"
}

# record COMMAND...: output and status
record() {
	"$recorder" /tmp/rec $period "$@" >>"/tmp/$name.$mode.out" \
		2>>"/tmp/$name.$mode.err" </dev/null || _status=$?
	echo "status ${_status:-0}" >>"/tmp/$name.$mode.out"
	_status=
}

# The first run makes the tables, which takes longer than the work.
run() {
	case $mode in
	plain) record "$@" ;;
	sfjit)
		"$sfjit" run -- "$@" >/dev/null 2>&1 </dev/null || :
		record "$sfjit" run -- "$@" ;;
	esac
	judge /tmp/rec
}

attach() {
	_name=$1
	export START="$2" READY="$3" WORK="$4" mode sfjit
	record sh "$top/bench/guest/attached.sh"
	read -r _begin _end </tmp/attached
	judge /tmp/rec "$_begin" "$_end" "$_name"
}

# shellcheck disable=SC2016 # for the other shell
attach_waiting() {
	rm -f /tmp/go
	mkfifo /tmp/go
	attach "$1" "$2 <>/tmp/go >/tmp/said" \
		"[ \"\$(cat /proc/\$server/comm)\" = $1 ]" \
		'echo >/tmp/go; tail -f --pid=$server /dev/null; cat /tmp/said'
}

# do_work NAME: plain and with sfjit
do_work() {
	for mode in plain sfjit; do
		rm -rf $work
		mkdir $work
		: >"/tmp/$name.$mode.lines"
		: >"/tmp/$name.$mode.out"
		: >"/tmp/$name.$mode.err"
		# shellcheck source=/dev/null
		(cd $work && . "$here/$name.sh") >&2 || return
	done
}

print() {
	for mode in plain sfjit; do
		sort "/tmp/$name.$mode.lines" | uniq -c |
			sed "s/^ *\([0-9]*\) /sample	$name	$mode	\1	/"
	done
	if cmp -s "/tmp/$name.plain.out" "/tmp/$name.sfjit.out"; then
		echo "same	$name	1"
	else
		echo "same	$name	0"
		diff "/tmp/$name.plain.out" "/tmp/$name.sfjit.out" |
			head -n 20 >&2
		head -n 20 "/tmp/$name.sfjit.err" >&2
	fi
}

for name; do
	say "$name"
	if do_work; then
		print
	else
		tail -n 20 "/tmp/$name".*.err >&2
		echo "failed	$name	$mode"
	fi
	rm -f "/tmp/$name".*
done
