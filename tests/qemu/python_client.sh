#!/bin/sh
# SPDX-License-Identifier: MIT
# SPDX-FileCopyrightText: 2026 The sfjit authors
#
# Description: the CPython client with the interpreter that it is for, on the
# patched kernel or that of $SFJIT_KERNEL, alone and under sfjit run; and the
# stacks that perf gets.

# shellcheck source=tests/lib/guest.sh
. "$(dirname "$0")/../lib/guest.sh"
# See tests/perf/demo.sh.
clock=''
[ "$kernel" != aarch64 ] || clock=--icount
guest python-client "$clock --timeout=3600" tests/unit/run-python.sh \
	"build/bin/sfjit run -- tests/unit/run-python.sh" \
	"tests/unit/run/guest_stacks.sh python"
