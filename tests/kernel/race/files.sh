#!/bin/sh
# SPDX-License-Identifier: MIT
# SPDX-FileCopyrightText: 2026 The sfjit authors
#
# Tables of files that come and go while files and their mappings change, and so
# many samples in these; for half of SFJIT_RACE_SECONDS (0) at least; random numbers
# as in race.sh.

# shellcheck source=tests/lib/guest.sh
. "$(dirname "$0")/../../lib/guest.sh"
seconds=$((${SFJIT_RACE_SECONDS:-0} / 2))
tests/kernel/selftests/build >&2
guest race-files "--rootfs=none --timeout=$((seconds + 3600))" \
	"build/tests/kernel/race/files $seconds ${SFJIT_RACE_SEED:-}"
