#!/bin/sh
# SPDX-License-Identifier: MIT
# SPDX-FileCopyrightText: 2026 The sfjit authors
#
# The benchmarks of this machine run, give the promised figures, and those
# that are exact are reached. No time is checked.

set -eu
cd "$(dirname "$0")/../.."
# shellcheck source=tests/perf/bench-quick
. tests/perf/bench-quick

bench_quick sizes encode convert
python3 -B tests/perf/bench-figures.py "$tmp"
