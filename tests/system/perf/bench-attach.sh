#!/bin/sh
# SPDX-License-Identifier: MIT
# SPDX-FileCopyrightText: 2026 The sfjit authors
#
# bench/run attach gives the promised figures, of a python3 with as many mappings
# as it says. Times are not checked.

set -eu
# shellcheck source=tests/lib/tap.sh
. "$(dirname "$0")/../../lib/tap.sh"
# shellcheck source=tests/system/perf/bench-quick
. "$top/tests/system/perf/bench-quick"

bench_quick attach
also python3 -B tests/system/perf/bench-attach-figures.py "$tmp"
finish
