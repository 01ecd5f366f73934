#!/bin/sh
# SPDX-License-Identifier: MIT
# SPDX-FileCopyrightText: 2026 The sfjit authors
#
# usage: patterns.sh SAMPLES SECONDS
#
# The patterns of the guide as programs: each stack by its known calls.

# shellcheck source=tests/lib/guest.sh
. "$(dirname "$0")/../../lib/guest.sh"
programs=$(sed -n 's/^PATTERNS := //p' userspace/libsfjit/libsfjit.mk)
guest patterns "--cpus=1 --timeout=3600" "tests/system/patterns/record $1 $2 $programs"
