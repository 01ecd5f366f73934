#!/bin/sh
# SPDX-License-Identifier: MIT
# SPDX-FileCopyrightText: 2026 The sfjit authors
#
# bench/run stacks gives what it promises. The guest counts instructions, so that
# costs are compared, too, with room for what few samples do not average out.

set -eu
# shellcheck source=tests/lib/tap.sh
. "$(dirname "$0")/../../lib/tap.sh"
# shellcheck source=tests/system/perf/bench-quick
. "$top/tests/system/perf/bench-quick"

bench_quick stacks
also python3 -B tests/system/perf/bench-stacks-figures.py "$tmp"
finish
