#!/bin/sh
# SPDX-License-Identifier: MIT
# SPDX-FileCopyrightText: 2026 The sfjit authors
#
# Description: stacks of signal handlers in ordinary programs, complete under
# sfjit run: perf's samples compared with the C compiler's own unwinder.

# shellcheck source=tests/lib/guest.sh
. "$(dirname "$0")/../../lib/guest.sh"
guest signal-run "--cpus=1 --timeout=3600" tests/system/guest/record-signals
