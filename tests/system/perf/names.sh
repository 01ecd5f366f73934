#!/bin/sh
# SPDX-License-Identifier: MIT
# SPDX-FileCopyrightText: 2026 The sfjit authors
#
# Names with time, by the distribution's perf, on the kernel of $SFJIT_KERNEL.

# shellcheck source=tests/lib/guest.sh
. "$(dirname "$0")/../../lib/guest.sh"
tools/make -s build/tests/system/perf/names >&2
guest perf-names --cpus=1 "tests/system/perf/record-names $kernel"
