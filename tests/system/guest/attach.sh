#!/bin/sh
# SPDX-License-Identifier: MIT
# SPDX-FileCopyrightText: 2026 The sfjit authors
#
# Description: sfjit attach on the patched kernel: stacks of processes that run,
# and that nothing is left in them.

# shellcheck source=tests/lib/guest.sh
. "$(dirname "$0")/../../lib/guest.sh"
guest attach "--timeout=3600" tests/sfjit/guest_attach.sh \
	tests/sfjit/guest_attach_killed.sh \
	tests/sfjit/guest_attach_fails.sh tests/sfjit/attach.sh
