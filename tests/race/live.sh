#!/bin/sh
# SPDX-License-Identifier: MIT
# SPDX-FileCopyrightText: 2026 The sfjit authors
#
# A producer that appends functions to a LIVE window, and samples in them, for
# half of SFJIT_RACE_SECONDS (60); random numbers as in race.sh.

set -eu
cd "$(dirname "$0")/../.."
seconds=$((${SFJIT_RACE_SECONDS:-60} / 2))
tests/qemu/build >&2
exec tools/guest --rootfs=none --name="race-live-${SFJIT_KERNEL:-patched}" \
	--timeout=$((seconds + 300)) -- \
	build/tests/race/append "$seconds" ${SFJIT_RACE_SEED:+"$SFJIT_RACE_SEED"}
