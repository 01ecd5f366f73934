#!/bin/sh
# SPDX-License-Identifier: MIT
# SPDX-FileCopyrightText: 2026 The sfjit authors
#
# Stacks in the assembly of OpenSSL are exact with tables that have addends, and
# end there with those that have none.

set -eu
# shellcheck source=tests/lib/tap.sh
. "$(dirname "$0")/../../lib/tap.sh"
# shellcheck source=tests/system/perf/bench-quick
. "$top/tests/system/perf/bench-quick"

bench_quick crypto
also python3 -B tests/system/perf/crypto-figures.py "$tmp"
finish
