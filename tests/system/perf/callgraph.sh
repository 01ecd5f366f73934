#!/bin/sh
# SPDX-License-Identifier: MIT
# SPDX-FileCopyrightText: 2026 The sfjit authors
#
# The distribution's perf, as it is, shows who called a trampoline.

# shellcheck source=tests/lib/guest.sh
. "$(dirname "$0")/../../lib/guest.sh"
guest perf-callgraph --cpus=1 tests/system/perf/record-callgraph
