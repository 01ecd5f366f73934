#!/bin/sh
# SPDX-License-Identifier: MIT
# SPDX-FileCopyrightText: 2026 The sfjit authors
#
# Description: the tests of sfjit run for kernels without windows, on the patched
# kernel.

# shellcheck source=tests/lib/guest.sh
. "$(dirname "$0")/../../lib/guest.sh"
guest run-units --cpus=1 tests/preload/messages.sh tests/preload/unchanged.sh \
	tests/preload/modules.sh tests/sfjit/cache.sh
