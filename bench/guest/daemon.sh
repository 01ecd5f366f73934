#!/bin/sh
# SPDX-License-Identifier: MIT
# SPDX-FileCopyrightText: 2026 The sfjit authors
#
# usage: daemon.sh RUNS START
#
# With the program START: programs that end at once, without sfjit daemon and beside
# it, once the files of true have tables. Prints lines "NAME HOW NANOSECONDS"; those
# of `own' are the daemon's for each run of true.

set -eu
runs=$1 start=$2
cd "$(dirname "$0")/../.."
log=$(mktemp)

# used: CPU time of the daemon in nanoseconds; 2 is CPUCLOCK_SCHED.
used() {
	python3 -c 'import sys, time
print(time.clock_gettime_ns(~int(sys.argv[1]) << 3 | 2))' "$daemon"
}

has_table() { grep -qF "$(readlink -f "$1"): 1 table" "$log"; }

# Two starts of true differ by up to 1 %: take the least of many.
both() {
	"$start" "true $1" $((7 * runs)) /bin/true
	"$start" "python3 $1" "$runs" python3 -I -c pass
}

both plain
"${O:-build}/bin/sfjit" daemon -v 2>"$log" &
daemon=$!
/bin/true
for file in /bin/true $(ldd /bin/true | grep -o '/[^ ]*'); do
	until has_table "$file"; do
		kill -0 "$daemon"
		sleep 0.1
	done
done
both beside
# Of a second, with the look for changed files. START runs it three times more.
again=$((34 * runs))
before=$(used)
"$start" "true again" $again /bin/true
after=$(used)
echo "true own $(((after - before) / (again + 3)))"
kill "$daemon"
