#!/bin/sh
# SPDX-License-Identifier: MIT
# SPDX-FileCopyrightText: 2026 The sfjit authors
#
# Description: sfjit record follows Go's own table, with and without .debug_frame,
# address by address, and says so where Go changes to a stack that was not copied.

# shellcheck source=tests/lib/tap.sh
. "$(dirname "$0")/../lib/tap.sh"
go=${SFJIT_GOLANG:-$(tools/golang 2>/dev/null)} ||
	skip_all "no programs of Go (SFJIT_GOLANG or tools/golang)"
cd "$tmp" || exit 1
perf record -q -e cpu-clock --call-graph=dwarf -o probe true >said 2>&1 ||
	skip_all "perf cannot record here"

# $seconds are rounds of the program.
record_rounds() {
	# shellcheck disable=SC2086 # words
	"$O/bin/sfjit" record --quiet -e cpu-clock -F 499 -o data -- \
		./program "$seconds" $work >chain 2>err &&
		perf script --no-inline -i data -F comm,pid,tid,ip,sym \
			>samples 2>>err &&
		perf script -D -i data >dump 2>>err &&
		python3 -B "$top/tests/sfjit/check_go.py" chain samples dump \
			>counts 2>others
}

# Of each kind.
are_enough() {
	for kind in $kinds; do
		awk -v kind="$kind" '$1 == kind { enough = $2 + $3 >= 20 }
			END { exit !enough }' counts || return
	done
}

# counted KIND: "exact others"
counted() { sed -n "s/^$1 //p" counts; }

# exact NAME KIND
exact() {
	case $(counted "$2") in
	*" 0") ok "$1: $2: stacks are exact" ;;
	*) not_ok "$1: $2: stacks are exact" "$(counted "$2"): $(cat others)" ;;
	esac
}

check_program() {
	works "$1: recordings" until_enough "20000 60000 200000 600000" \
		are_enough record_rounds
	for kind in frame assembly; do
		exact "$1" $kind
	done
	# The leaf has few instructions, so it may have few samples.
	exact "$1" leaf
}

for name in static-1.19 static-1.24 pie-1.24 cgo-1.24 cgo-pie-1.19; do
	work="compute memory" kinds="frame assembly"
	cp "$go/$name" program
	check_program "$name"
	objcopy -R .debug_frame -R .zdebug_frame "$go/$name" program
	check_program "$name without .debug_frame"
done

# C runs on the thread's own stack, not on the goroutine's.
work=native kinds=native
cp "$go/cgo-1.24" program
works "C: recordings" until_enough "20000 60000 200000" are_enough record_rounds
"$O/bin/sfjit" explain data >ends 2>err
like "C: stacks end where Go called it" "*_Cfunc_in_c *:runtime.asmcgocall
*" "$(cat others)
"
like "C: the reason" "*program *goes on on another stack*" "$(cat ends)"
finish
