#!/bin/sh
# SPDX-License-Identifier: MIT
# SPDX-FileCopyrightText: 2026 The sfjit authors
#
# Data races while windows change as fast as can be, under sampling and storms.

SFJIT_KERNEL=${SFJIT_KERNEL:-kcsan} SFJIT_RACE_SECONDS=${SFJIT_RACE_SECONDS:-60}
export SFJIT_KERNEL SFJIT_RACE_SECONDS
exec "$(dirname "$0")/../race/race.sh"
