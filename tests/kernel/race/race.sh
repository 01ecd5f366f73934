#!/bin/sh
# SPDX-License-Identifier: MIT
# SPDX-FileCopyrightText: 2026 The sfjit authors
#
# usage: race.sh [grow | files]
#
# Windows changed by many threads under perf, so many times in each way, and for
# SFJIT_RACE_SECONDS (0) at least, with the random numbers of SFJIT_RACE_SEED if it
# is set.  The others, for half of these seconds at least: see grow.c, threads that
# append functions to a packed table, and files.c, tables of files.

# shellcheck source=tests/lib/guest.sh
. "$(dirname "$0")/../../lib/guest.sh"
seconds=${SFJIT_RACE_SECONDS:-0}
[ $# = 0 ] || seconds=$((seconds / 2))
tests/kernel/selftests/build >&2
guest "race${1:+-$1}" "--rootfs=none --timeout=$((seconds + 3600))" \
	"build/tests/kernel/race/${1:-race} $seconds ${SFJIT_RACE_SEED:-}"
