#!/bin/sh
# SPDX-License-Identifier: MIT
# SPDX-FileCopyrightText: 2026 The sfjit authors
#
# In the guest, as root: sfjit doctor when nothing is broken, and with one thing
# after the other broken.

# shellcheck source=tests/lib/tap.sh
. "$(dirname "$0")/../lib/tap.sh"
# shellcheck source=tests/preload/lib.sh
. "$top/tests/preload/lib.sh"
# shellcheck source=tests/sfjit/doctor-lib.sh
. "$top/tests/sfjit/doctor-lib.sh"

anybody() {
	setpriv --reuid 65534 --regid 65534 --clear-groups "$@"
}

# limited LIMIT COMMAND...: runs as another user, with this RLIMIT_MEMLOCK
limited() {
	limit=$1
	shift
	prlimit --memlock="$limit" \
		setpriv --reuid 65534 --regid 65534 --clear-groups "$@"
}

lacking="a sample lacks the callers of code without frame pointers
stacks of perf record --call-graph=fp lack frames"

# with FILE VALUE COMMAND...: runs with a number in /proc/sys
with() {
	file=/proc/sys/$1
	before=$(cat "$file")
	echo "$2" >"$file"
	shift 2
	"$@"
	echo "$before" >"$file"
}

if [ ! -e /proc/self/sframe ]; then
	examine
	sed "/^ok *cache /d" "$tmp/doctor" >"$tmp/text"
	cat >"$tmp/want" <<-END
	broken  kernel    Linux $(uname -r) knows no SFrame windows
	                  code without frame pointers truncates stacks
	                  fix: boot a kernel with the patches and UNWIND_USER_SFRAME=y
	ok      seccomp   no seccomp filter refuses windows
	ok      events    of all processes and the kernel; perf_event_paranoid is 2
	ok      buffers   512 KiB for each CPU may be locked
	broken  fp        a sample lacks the callers of code without frame pointers
	                  stacks of perf record --call-graph=fp lack frames
	                  fix: see kernel
	broken  fp,defer  a sample lacks the callers of code without frame pointers
	                  --call-graph=fp,defer does not read in missing pages
	                  fix: see kernel
	ok      perf      perf $(perf version | cut -d' ' -f3) knows fp,defer
	ok      module    $preload
	ok      daemon    none: this kernel has no tables of files
	END
	same "a kernel without windows" "$tmp/want" "$tmp/text"
	is "a kernel without windows: status" 2 "$status"
	says_the_same "a kernel without windows: JSON" 2
	finish
fi

well="$tmp/well"
cat >"$well" <<END
ok  kernel    Linux $(uname -r) knows SFrame windows
ok  seccomp   no seccomp filter refuses windows
ok  tables    the kernel reads packed tables
ok  deadline  kernel.sframe_walk_us is $(cat /proc/sys/kernel/sframe_walk_us)
ok  limit     vm.max_sframe_windows is 65536
ok  events    of all processes and the kernel; perf_event_paranoid is 2
ok  buffers   512 KiB for each CPU may be locked
ok  fp        a sample has the callers of code without frame pointers
ok  fp,defer  a sample has the callers of code without frame pointers
ok  perf      perf $(perf version | cut -d' ' -f3) knows fp,defer
ok  module    $preload
ok  cache     $XDG_CACHE_HOME/sfjit is made by the first sfjit run
ok  daemon    no sfjit daemon was found
END
examine
same "all is well" "$well" "$tmp/doctor"
is "all is well: status" 0 "$status"
is "all is well: fits on a terminal" "" \
	"$(awk 'length > 80 || NR > 24' "$tmp/doctor")"
says_the_same "all is well: JSON" 0

# The sample may take longer.
with kernel/sframe_walk_us 249 finds "a shorter deadline" deadline "[12]" \
	"limited deadline kernel.sframe_walk_us is 249
long walks are truncated (reason: deadline)
fix: sysctl kernel.sframe_walk_us=250"
with vm/max_sframe_windows 0 finds "no windows" limit 2 \
	"broken limit vm.max_sframe_windows is 0
no process can have windows
fix: sysctl vm.max_sframe_windows=65536"
is "no windows: samples" "broken fp $lacking
fix: see limit" "$(finding fp)"
with vm/max_sframe_windows 1023 finds "few windows" limit 1 \
	"limited limit vm.max_sframe_windows is 1023
code without a window truncates stacks
fix: sysctl vm.max_sframe_windows=65536"

for option in 0x53464a33 0x53464a31; do
	finds "a filter that refuses $option" seccomp 2 \
		"broken seccomp a seccomp filter refuses windows: Operation not permitted
programs started here get no windows
fix: let prctl(0x53464a31 to 0x53464a33, ...) pass" "$filter" $option 1
	is "a filter that refuses $option: kernel" \
		"ok kernel Linux $(uname -r) knows SFrame windows" \
		"$(finding kernel)"
done
is "a filter that refuses windows: samples" "broken fp $lacking
fix: see seccomp" "$(finding fp)"
finds "a filter that kills" seccomp 2 \
	"broken seccomp a seccomp filter kills programs with windows: Bad system call
programs started here get no windows
fix: let prctl(0x53464a31 to 0x53464a33, ...) pass" "$filter" 0x53464a33 0
finds "a filter that refuses events" events 2 \
	"broken events refused: Operation not permitted; perf_event_paranoid is 2
you cannot profile your own programs
fix: let perf_event_open() pass seccomp, or have CAP_PERFMON" "$filter" perf 1

export XDG_CACHE_HOME="$tmp/nobody"
install -d -o 65534 "$XDG_CACHE_HOME"
chmod 755 "$tmp"
finds "anybody" events 0 \
	"ok events of your own programs; perf_event_paranoid is 2" anybody
is "anybody: samples" \
	"ok fp a sample has the callers of code without frame pointers" \
	"$(finding fp)"
with kernel/perf_event_paranoid 1 finds "anybody, of a lower level" events 0 \
	"ok events of your own programs and the kernel; perf_event_paranoid is 1" \
	anybody
with kernel/perf_event_paranoid 4 finds "anybody, of level 4" events 2 \
	"broken events refused: Permission denied; perf_event_paranoid is 4
you cannot profile your own programs
fix: sysctl kernel.perf_event_paranoid=2" anybody
with kernel/perf_event_paranoid 4 finds "root, of level 4" events 1 \
	"ok events of all processes and the kernel; perf_event_paranoid is 4"
with kernel/perf_event_mlock_kb 8 finds "little memory for buffers" buffers 1 \
	"limited buffers for 0 of $(nproc) CPUs; perf_event_mlock_kb 8, \
RLIMIT_MEMLOCK 0 KiB
perf record has less than 512 KiB, and may lose samples
fix: sysctl kernel.perf_event_mlock_kb=516" limited 0
with kernel/perf_event_mlock_kb 8 finds "a higher limit of memory" buffers 0 \
	"ok buffers 512 KiB for each CPU may be locked" \
	limited unlimited

finish
