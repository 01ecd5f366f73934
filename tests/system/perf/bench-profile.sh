#!/bin/sh
# SPDX-License-Identifier: MIT
# SPDX-FileCopyrightText: 2026 The sfjit authors
#
# bench/run profile gives what it promises. Its counts differ with the samples,
# so only what holds for each run is checked.

set -eu
# shellcheck source=tests/lib/tap.sh
. "$(dirname "$0")/../../lib/tap.sh"
# shellcheck source=tests/system/perf/bench-quick
. "$top/tests/system/perf/bench-quick"

bench_quick profile
also python3 -B tests/system/perf/bench-profile-figures.py "$tmp"
finish
