#!/bin/sh
# SPDX-License-Identifier: MIT
# SPDX-FileCopyrightText: 2026 The sfjit authors
#
# Areas of the library, with the true stack at each instruction.

# shellcheck source=tests/lib/guest.sh
. "$(dirname "$0")/../../lib/guest.sh"
tests/kernel/selftests/build >&2
guest area --rootfs=none libsfjit_area_test
