#!/bin/sh
# SPDX-License-Identifier: MIT
# SPDX-FileCopyrightText: 2026 The sfjit authors
#
# Description: sfjit run on the patched kernel: the tests of the unpatched one
# again, windows that come and go with libraries, stacks of forked children.

# shellcheck source=tests/lib/guest.sh
. "$(dirname "$0")/../../lib/guest.sh"
guest run-windows --cpus=1 tests/preload/messages.sh tests/preload/unchanged.sh \
	tests/preload/modules.sh tests/sfjit/cache.sh \
	tests/preload/guest_windows.sh tests/preload/guest_shared.sh \
	"tests/preload/guest_stacks.sh prefork"
