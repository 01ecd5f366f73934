#!/bin/sh
# SPDX-License-Identifier: MIT
# SPDX-FileCopyrightText: 2026 The sfjit authors
#
# In the guest: sfjit ps on processes that wait.

# shellcheck source=tests/lib/tap.sh
. "$(dirname "$0")/../lib/tap.sh"
# shellcheck source=tests/preload/lib.sh
. "$top/tests/preload/lib.sh"
here=$top/tests/sfjit

# start NAME COMMAND...: waits for a line of its output in $tmp/NAME and sets
# $pid. Its standard input is a pipe that stays open.
start() {
	name=$1
	shift
	"$@" <"$tmp/input" >"$tmp/$name" 2>"$tmp/$name.err" &
	pid=$!
	while ! [ -s "$tmp/$name" ]; do
		kill -0 "$pid" || { cat "$tmp/$name.err"; exit 1; }
		sleep 0.1
	done
}

mkfifo "$tmp/input"
exec 8<>"$tmp/input"
export PYTHONPATH="$top/build/lib/python"
start cat "$sfjit" run -- sh -c 'echo ready; exec cat'
cat=$pid
# sh has become cat; wait until that has windows.
while ! grep -qs '^windows [1-9]' "/proc/$cat/sframe" ||
	[ "$(cat "/proc/$cat/comm")" != cat ]; do
	sleep 0.1
done
start python "$sfjit" run -- python3 -m sfjit "$here/ps_target.py"
python=$pid
own=$(cat "$tmp/python")

for pid in $cat $python; do
	"$sfjit" ps --json "$pid" >"$tmp/json"
	like "JSON of $(cat "/proc/$pid/comm") is what /proc says" "[1-9]*" \
		"$(python3 "$here/check_ps.py" "$pid" <"$tmp/json" 2>&1)"
done

"$sfjit" ps "$cat" >"$tmp/text"
is "title" "$cat cat: $(grep -c '^[0-9a-f]*-' "/proc/$cat/sframe") windows" \
	"$(head -n 1 "$tmp/text")"
libc=$(grep -c ' /[^ ]*/libc.so.6+[0-9a-f]*  */[^ ]*/sfjit/[^ ]*+' "$tmp/text")
is "text of libc.so.6, its table in a file of the cache" 1 "$libc"
is "text of the vDSO" 1 "$(grep -c ' \[vdso\]+[0-9a-f]* ' "$tmp/text")"
column=$(awk '/^TEXT / { print index($0, "TEXT IN") }' "$tmp/text")
is "columns are aligned" "" "$(awk -v at="$column" '/^[0-9a-f]+-/ &&
	(substr($0, at - 2, 2) != "  " || substr($0, at, 1) == " ")' \
	"$tmp/text")"

"$sfjit" ps "$python" >"$tmp/text"
is "a window of its own" 1 "$(grep -c "^$own-[0-9a-f]*  7  .*  200  packed  *\[anon\]+" \
	"$tmp/text")"
like "names of the perf map" "py::*:/* and [1-9]* more" \
	"$(sed -n 's/.*  \(py::.*\)/\1/p' "$tmp/text")"
# A file over the map, for the process (and everybody), or for the reader only.
cat >"$tmp/over" <<'EOF'
import ctypes, os, sys
over, at, command = sys.argv[1], sys.argv[2], sys.argv[3:]
MS_BIND = 4096
if ctypes.CDLL(None).mount(over.encode(), at.encode(), None, MS_BIND, None):
    sys.exit('mount failed')
os.execvp(command[0], command)
EOF
over() {
	"$@" | sed -n '1s/:.*//p; s/.*py::.*/with names/p' | xargs
}
map=/tmp/perf-$python.map
is "a file over the map, for the reader" "$python python3 with names" \
	"$(over unshare --mount python3 "$tmp/over" /dev/null "$map" \
		"$sfjit" ps "$python")"
cp "$map" "$tmp/copy"
is "a file over the map, for the process" "$python python3" \
	"$(over python3 "$tmp/over" "$tmp/copy" "$map" "$sfjit" ps "$python")"
python3 -c 'import ctypes, sys
sys.exit(ctypes.CDLL(None).umount2(sys.argv[1].encode(), 0))' "$map"
is "several processes" "$cat $python" \
	"$("$sfjit" ps "$cat" "$python" | sed -n 's/ [a-z0-9]*: .*//p' | xargs)"

"$sfjit" ps >"$tmp/text"
is "all processes: cat, nothing refused" 1 \
	"$(grep -c "^ *$cat  *[1-9][0-9]*  .*  0  cat\$" "$tmp/text")"
is "all processes: python3" 1 \
	"$(grep -c "^ *$python  *[1-9][0-9]*  .*  python3\$" "$tmp/text")"
is "all processes, as JSON" "[$cat, $python]" "$("$sfjit" ps --json |
	python3 -c 'import json, sys
print([process["pid"] for process in json.load(sys.stdin)])')"

# Another user may neither read nor find them.
anybody="setpriv --reuid 65534 --regid 65534 --clear-groups"
is "another user: message" "sfjit: $cat: may be read only by those who may \
trace the process" "$($anybody "$sfjit" ps "$cat" 2>&1)"
$anybody "$sfjit" ps "$cat" 2>/dev/null
is "another user: status" 1 $?
is "another user: all processes" 1 "$($anybody "$sfjit" ps | wc -l)"

is "this shell has no windows" "$$ $(cat "/proc/$$/comm"): 0 windows" \
	"$("$sfjit" ps $$ | head -n 1)"
is "a thread of the kernel" \
	"sfjit: 2: has no address space: it ended, or is the kernel's" \
	"$("$sfjit" ps 2 2>&1)"
kill "$cat" "$python"
wait
is "a process that ended" "sfjit: $cat: no such process" \
	"$("$sfjit" ps "$cat" 2>&1)"
finish
