#!/bin/sh
# SPDX-License-Identifier: MIT
# SPDX-FileCopyrightText: 2026 The sfjit authors
#
# In the guest: stacks of programs of Go under sfjit run are those that they know,
# address by address. Static programs are attached to, others load the module.

# shellcheck source=tests/lib/tap.sh
. "$(dirname "$0")/../lib/tap.sh"
# shellcheck source=tests/preload/lib.sh
. "$top/tests/preload/lib.sh"
# shellcheck source=tests/sfjit/attached.sh
. "$top/tests/sfjit/attached.sh"

record_once() {
	perf record -q -e cpu-clock -F 500 --call-graph=fp -p "$pid" \
		-o "$tmp/perf.data" -- sleep "$seconds" >"$tmp/err" 2>&1 &&
		perf script --no-inline -i "$tmp/perf.data" \
			-F comm,pid,tid,ip,sym >"$tmp/samples" 2>>"$tmp/err" &&
		python3 -B "$top/tests/sfjit/check_go.py" "$tmp/chain" \
			"$tmp/samples" >"$tmp/counts" 2>"$tmp/others"
}

are_enough() {
	for kind in $kinds; do
		awk -v kind="$kind" '$1 == kind { enough = $2 + $3 >= 20 }
			END { exit !enough }' "$tmp/counts" || return
	done
}

# begin PROGRAM WINDOWS WORK...: below its chain; waits for more windows, at most
# five minutes
begin() {
	rm -f "$log"
	: >"$tmp/chain"
	program=$1 least=$2
	shift 2
	"$sfjit" run -o "$log" -- "$program" 0 "$@" >"$tmp/chain" \
		2>"$tmp/said" &
	pid=$!
	until grep -q ready "$tmp/chain"; do
		kill -0 $pid || break
		sleep 0.1
	done
	for _ in $(seq 3000); do
		[ "$(windows "$pid")" -le "$least" ] &&
			kill -0 "$pid" || break
		sleep 0.1
	done
}

# exact NAME
exact() {
	until_enough "3 10 30 100 300" are_enough record_once
	for kind in $kinds; do
		read -r right wrong <<-END
			$(sed -n "s/^$kind //p" "$tmp/counts")
		END
		if [ "$right" -ge 20 ] && [ "$wrong" = 0 ]; then
			ok "$1: $kind: stacks are exact"
		else
			not_ok "$1: $kind: stacks are exact" "$right of \
$((right + wrong)): $(cat "$tmp/others" "$tmp/err")"
		fi
	done
}

for version in 1.19 1.24; do
	kinds="frame leaf assembly"
	begin "$O/tests/golang/static-$version" 1 compute memory
	like "Go $version: message" "*is statically linked; sfjit attaches to it" \
		"$(cat "$tmp/said")"
	exact "Go $version"
	kill "$pid"
	kinds="frame leaf assembly native back"
	begin "$O/tests/golang/cgo-pie-$version" 4 compute memory native back
	exact "cgo, position-independent, Go $version"
	kill "$pid"
done
finish
