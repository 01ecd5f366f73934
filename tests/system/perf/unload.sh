#!/bin/sh
# SPDX-License-Identifier: MIT
# SPDX-FileCopyrightText: 2026 The sfjit authors
#
# A library takes the place of another one: perf's own unwinder and sfjit inject,
# on a kernel without windows.

# shellcheck source=tests/lib/guest.sh
. "$(dirname "$0")/../../lib/guest.sh"
guest perf-unload --cpus=1 tests/system/perf/record-unload
