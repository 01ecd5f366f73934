#!/bin/sh
# SPDX-License-Identifier: MIT
# SPDX-FileCopyrightText: 2026 The sfjit authors
#
# The distribution's perf, as it is, shows who called a trampoline.

set -eu
cd "$(dirname "$0")/../.."
exec tools/guest --name=perf-callgraph -- tests/perf/record-callgraph
