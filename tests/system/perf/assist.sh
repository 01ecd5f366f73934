#!/bin/sh
# SPDX-License-Identifier: MIT
# SPDX-FileCopyrightText: 2026 The sfjit authors
#
# Functions of an interpreter that the kernel asks, by the distribution's perf.

# shellcheck source=tests/lib/guest.sh
. "$(dirname "$0")/../../lib/guest.sh"
guest perf-assist --cpus=1 tests/system/perf/record-assist
