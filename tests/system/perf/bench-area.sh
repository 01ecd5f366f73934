#!/bin/sh
# SPDX-License-Identifier: MIT
# SPDX-FileCopyrightText: 2026 The sfjit authors
#
# bench/area gives the promised figures, as bench/run puts them, and a change of
# an area takes as many instructions in a large one as in a small one. Times are
# not checked: instructions are counted.

set -eu
# shellcheck source=tests/lib/tap.sh
. "$(dirname "$0")/../../lib/tap.sh"
# shellcheck source=tests/system/perf/bench-quick
. "$top/tests/system/perf/bench-quick"

bench_quick area
also python3 -B tests/system/perf/bench-area-figures.py "$tmp"
finish
