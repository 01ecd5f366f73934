#!/bin/sh
# SPDX-License-Identifier: MIT
# SPDX-FileCopyrightText: 2026 The sfjit authors
#
# Description: the CPython client with the interpreter that it is for, on the
# patched kernel or that of $SFJIT_KERNEL, alone and under sfjit run; and the
# stacks that perf gets.

# shellcheck source=tests/lib/guest.sh
. "$(dirname "$0")/../../lib/guest.sh"
guest python-client "--cpus=1 --timeout=3600" tests/runtimes/python/python.sh \
	"build/bin/sfjit run -- tests/runtimes/python/python.sh" \
	"tests/preload/guest_stacks.sh python"
