#!/bin/sh
# SPDX-License-Identifier: MIT
# SPDX-FileCopyrightText: 2026 The sfjit authors
#
# Windows changed by many threads under perf, so many times in each way, and for
# SFJIT_RACE_SECONDS (0) at least, with the random numbers of SFJIT_RACE_SEED if it
# is set.

# shellcheck source=tests/lib/guest.sh
. "$(dirname "$0")/../../lib/guest.sh"
seconds=${SFJIT_RACE_SECONDS:-0}
tests/kernel/selftests/build >&2
guest race "--rootfs=none --timeout=$((seconds + 3600))" \
	"build/tests/kernel/race/race $seconds ${SFJIT_RACE_SEED:-}"
