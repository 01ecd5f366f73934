#!/bin/sh
# SPDX-License-Identifier: MIT
# SPDX-FileCopyrightText: 2026 The sfjit authors
#
# Description: sfjit run on the patched kernel: windows that come and go with
# libraries, stacks of forked children.

# shellcheck source=tests/lib/guest.sh
. "$(dirname "$0")/../../lib/guest.sh"
guest run-windows --cpus=1 tests/preload/guest_windows.sh \
	tests/preload/guest_shared.sh "tests/preload/guest_stacks.sh prefork"
