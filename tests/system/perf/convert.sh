#!/bin/sh
# SPDX-License-Identifier: MIT
# SPDX-FileCopyrightText: 2026 The sfjit authors
#
# The call chains of sfjit inject are those of perf's own conversion and those of
# elfutils, on a kernel without windows.

# shellcheck source=tests/lib/guest.sh
. "$(dirname "$0")/../../lib/guest.sh"
guest perf-convert "--cpus=1 --with=openssl" tests/system/perf/convert-all
