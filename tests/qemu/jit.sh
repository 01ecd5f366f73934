#!/bin/sh
# SPDX-License-Identifier: MIT
# SPDX-FileCopyrightText: 2026 The sfjit authors
#
# Description: stacks through code of a JIT that publishes call frame
# information, under sfjit run, at each instruction.

# shellcheck source=tests/lib/guest.sh
. "$(dirname "$0")/../lib/guest.sh"
guest jit "" tests/unit/run-jit.sh tests/unit/run-breakpoint.sh \
	tests/unit/run-mdwe.sh tests/unit/run/guest_jit.sh
