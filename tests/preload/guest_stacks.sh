#!/bin/sh
# SPDX-License-Identifier: MIT
# SPDX-FileCopyrightText: 2026 The sfjit authors
#
# In the guest: stacks of a prefork server and of a Python program, as perf
# records them, without sfjit and with. The test's own part of each stack is
# known and compared name by name.

# shellcheck source=tests/lib/tap.sh
. "$(dirname "$0")/../lib/tap.sh"
# shellcheck source=tests/preload/lib.sh
. "$top/tests/preload/lib.sh"
# shellcheck source=tests/preload/summary.sh
. "$top/tests/preload/summary.sh"
data=$tmp/perf.data

# record MODE COMMAND...
record() {
	mode=$1
	shift
	rm -f "$log"
	perf record -k CLOCK_MONOTONIC -e cpu-clock -F 500 \
		--call-graph="$mode" -o "$data" -- "$@" \
		>"$tmp/out" 2>"$tmp/err" &&
	perf script --no-inline -i "$data" -F comm,pid,ip,sym \
		>"$samples" 2>>"$tmp/err"
}

without_sfjit() {
	record "$1" "$run/prefork" "${seconds}000"
	summary prefork compare "" >"$tmp/sum" 2>"$tmp/bad"
	awk '{ n += $3; c += $5; x += $7 } END { print n, c, x }' \
		"$tmp/sum" >"$tmp/total"
	read -r stacks complete _ <"$tmp/total"
}

are_twenty() { [ "${stacks:-0}" -gt 20 ]; }

with_sfjit() {
	record "$1" "$sfjit" run -o "$log" -- "$run/prefork" "${seconds}000"
	summary prefork sort_once "work main" >"$tmp/sum" 2>"$tmp/bad"
}

# Each of the four has more than 20.
are_enough() {
	awk '$3 > 20 { n++ } END { exit n < 4 }' "$tmp/sum"
}

prefork() {
	until_enough "1 10 100" are_twenty without_sfjit "$1"
	if [ "${stacks:-0}" -gt 20 ] && [ "$complete" = 0 ]; then
		ok "prefork, $1, without sfjit: nothing is complete"
	else
		not_ok "prefork, $1, without sfjit: nothing is complete" \
			"$stacks stacks, $complete complete"
	fi

	until_enough "3 10 100" are_enough with_sfjit "$1"
	is "prefork, $1: one module table each" 1 "$(grep -c ' ready ' "$log")"
	prefork_stacks "prefork, $1"
}

cp tests/preload/programs/chain.py "$tmp"
cat >"$tmp/alarm.py" <<'END'
import signal
import sys
import time

armed = False

def burn(n):
    return sum(i * i % 7 for i in range(n))

def on_alarm(number, frame):
    global armed
    burn(5000)
    armed = False

def wait(seconds):
    global armed
    until = time.process_time() + seconds
    while time.process_time() < until or armed:
        if not armed:
            armed = True
            signal.setitimer(signal.ITIMER_REAL, 0.002)

def outer(seconds):
    signal.signal(signal.SIGALRM, on_alarm)
    wait(seconds)

outer(float(sys.argv[1]))
END

record_python() {
	PYTHONPATH=$top/build/lib/python record "$1" "$sfjit" run \
		-o "$log" -- python3 -m sfjit "$tmp/$2" "$seconds"
}

# record_enough MODE SCRIPT SECONDS FEWEST FUNCTION: records longer if it has
# too few samples.
record_enough() {
	fewest=$4 inner=$5
	until_enough "$3 ${3}0 ${3}00" are_more record_python "$1" "$2"
}

are_more() { [ "$(grep -c " py::$inner:" "$samples")" -gt "$fewest" ]; }

# python_stacks MODE SCRIPT SECONDS FEWEST FUNCTION...: only the Python
# functions, which are known, of each stack with the first function. On AArch64
# perf adds an address less one, which is not the kernel's.
python_stacks() {
	mode=$1 file=$tmp/$2
	if ! record_enough "$@"; then
		not_ok "python, $mode: perf, $2" "$(tail -n 3 "$tmp/err")"
		return
	fi
	shift 5
	even=
	[ "$(uname -m)" != aarch64 ] || even=even
	summary python3 "py::$inner:$file" \
		"$(printf "py::%s:$file " "$@" '<module>')" \
		only=^py:: $even >"$tmp/sum" 2>"$tmp/bad"
	read -r _ _ stacks _ _ _ exact <"$tmp/sum"
	if [ "${stacks:-0}" -gt "$fewest" ] && [ "$exact" = "$stacks" ]; then
		ok "python, $mode: all Python functions of $stacks stacks of $inner"
	else
		not_ok "python, $mode: all Python functions of stacks of $inner" \
			"$exact of $stacks stacks: $(head -n 30 "$tmp/bad")"
	fi
}

python() {
	python_stacks "$1" chain.py 2 200 leaf Worker.step outer
	python_stacks "$1" alarm.py 1 50 burn on_alarm wait outer
}

case $1 in
prefork)
	prefork fp
	prefork fp,defer
	;;
python)
	python fp
	python fp,defer
	;;
esac
finish
