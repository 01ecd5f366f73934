#!/bin/sh
# SPDX-License-Identifier: MIT
# SPDX-FileCopyrightText: 2026 The sfjit authors
#
# Description: each kind of event of perf has exact stacks of python3 under
# sfjit run, and no kind has one on a kernel without windows.

# shellcheck source=tests/lib/tap.sh
. "$(dirname "$0")/../../lib/tap.sh"
also tools/guest --cpus=1 --name="readers-$SFJIT_KERNEL" -- \
	tests/system/readers/perf.py "$SFJIT_KERNEL"
finish
