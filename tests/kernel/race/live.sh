#!/bin/sh
# SPDX-License-Identifier: MIT
# SPDX-FileCopyrightText: 2026 The sfjit authors
#
# A producer that appends functions to a LIVE window, and samples in them, for
# half of SFJIT_RACE_SECONDS (60); random numbers as in race.sh.

# shellcheck source=tests/lib/guest.sh
. "$(dirname "$0")/../../lib/guest.sh"
seconds=$((${SFJIT_RACE_SECONDS:-60} / 2))
tests/kernel/selftests/build >&2
guest race-live "--rootfs=none --timeout=$((seconds + 300))" \
	"build/tests/kernel/race/append $seconds ${SFJIT_RACE_SEED:-}"
