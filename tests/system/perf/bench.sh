#!/bin/sh
# SPDX-License-Identifier: MIT
# SPDX-FileCopyrightText: 2026 The sfjit authors
#
# The benchmarks of this machine run, give the promised figures, and those
# that are exact are reached. No time is checked.

set -eu
# shellcheck source=tests/lib/tap.sh
. "$(dirname "$0")/../../lib/tap.sh"
# shellcheck source=tests/system/perf/bench-quick
. "$top/tests/system/perf/bench-quick"

bench_quick sizes encode convert
also python3 -B tests/system/perf/bench-figures.py "$tmp"
finish
