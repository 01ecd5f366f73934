#!/bin/sh
# SPDX-License-Identifier: MIT
# SPDX-FileCopyrightText: 2026 The sfjit authors
#
# Description: stacks of signal handlers in ordinary programs, complete under
# sfjit run: perf's samples compared with the C compiler's own unwinder.

cd "$(dirname "$0")/../.." || exit 1
exec tools/guest --name=signal-run --timeout=600 -- tests/qemu/record-signals
