#!/bin/sh
# SPDX-License-Identifier: MIT
# SPDX-FileCopyrightText: 2026 The sfjit authors
#
# bench/run native gives what it promises, and each step reads what it has to:
# counts are checked, times are not.

set -eu
# shellcheck source=tests/lib/tap.sh
. "$(dirname "$0")/../../lib/tap.sh"
# shellcheck source=tests/system/perf/bench-quick
. "$top/tests/system/perf/bench-quick"

bench_quick native
also python3 -B tests/system/perf/bench-native-figures.py "$tmp"
finish
