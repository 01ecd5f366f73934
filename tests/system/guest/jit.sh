#!/bin/sh
# SPDX-License-Identifier: MIT
# SPDX-FileCopyrightText: 2026 The sfjit authors
#
# Description: stacks through code of a JIT that publishes call frame
# information, under sfjit run, at each instruction.

# shellcheck source=tests/lib/guest.sh
. "$(dirname "$0")/../../lib/guest.sh"
guest jit "" tests/preload/jit.sh tests/preload/breakpoint.sh \
	tests/preload/mdwe.sh tests/preload/guest_jit.sh
