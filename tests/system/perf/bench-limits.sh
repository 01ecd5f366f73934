#!/bin/sh
# SPDX-License-Identifier: MIT
# SPDX-FileCopyrightText: 2026 The sfjit authors
#
# bench/hostile and bench/run windows give what they promise; the most
# expensive callchain of a hostile table is within the aim and within the bound,
# by instructions counted; windows are charged.

set -eu
# shellcheck source=tests/lib/tap.sh
. "$(dirname "$0")/../../lib/tap.sh"
# shellcheck source=tests/system/perf/bench-quick
. "$top/tests/system/perf/bench-quick"

bench_quick hostile windows
also python3 -B tests/system/perf/bench-limits-figures.py "$tmp"
finish
