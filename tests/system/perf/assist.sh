#!/bin/sh
# SPDX-License-Identifier: MIT
# SPDX-FileCopyrightText: 2026 The sfjit authors
#
# Functions of an interpreter that the kernel asks, by the distribution's perf.

# shellcheck source=tests/lib/guest.sh
. "$(dirname "$0")/../../lib/guest.sh"
tools/make -s build/tests/system/perf/assist \
	build/tests/system/perf/assist-shared >&2
guest perf-assist --cpus=1 tests/system/perf/record-assist
