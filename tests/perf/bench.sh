#!/bin/sh
# SPDX-License-Identifier: MIT
# SPDX-FileCopyrightText: 2026 The sfjit authors
#
# The benchmarks of this machine run, give the promised figures, and those
# that are exact are reached. No time is checked.

set -eu
cd "$(dirname "$0")/../.."
tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT

for name in sizes encode convert; do
	if BENCH_QUICK=1 BENCH_OUT=$tmp bench/run "$name" 2>"$tmp/log"; then
		echo "ok - bench/run $name"
	else
		echo "not ok - bench/run $name: $(tail -n 1 "$tmp/log")"
		exit 1
	fi
done
exec python3 -B tests/perf/bench-figures.py "$tmp"
