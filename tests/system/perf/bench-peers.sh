#!/bin/sh
# SPDX-License-Identifier: MIT
# SPDX-FileCopyrightText: 2026 The sfjit authors
#
# make bench, of bench/run peers alone, gives what it promises, and a page of it.
# The guest counts instructions, and the stacks are those of one program.

set -eu
# shellcheck source=tests/lib/tap.sh
. "$(dirname "$0")/../../lib/tap.sh"

works "make bench" env BENCH_QUICK=1 make bench BENCH=peers BENCH_OUT="$tmp"
[ $failed = 0 ] || finish
also python3 -B tests/system/perf/bench-peers-figures.py "$tmp"
finish
