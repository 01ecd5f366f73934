#!/bin/sh
# SPDX-License-Identifier: MIT
# SPDX-FileCopyrightText: 2026 The sfjit authors
#
# Description: sfjit run on the patched kernel: the tests of the unpatched one
# again, windows that come and go with libraries, stacks of forked children.

# shellcheck source=tests/lib/guest.sh
. "$(dirname "$0")/../lib/guest.sh"
guest run-windows --cpus=1 tests/unit/run-messages.sh tests/unit/run-unchanged.sh \
	tests/unit/run-modules.sh tests/unit/run-cache.sh \
	tests/unit/run/guest_windows.sh tests/unit/run/guest_shared.sh \
	"tests/unit/run/guest_stacks.sh prefork"
