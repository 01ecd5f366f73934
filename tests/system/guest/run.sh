#!/bin/sh
# SPDX-License-Identifier: MIT
# SPDX-FileCopyrightText: 2026 The sfjit authors
#
# Description: sfjit run on a machine without a root file system: the stacks of a
# program that knows its callers, exact to the address.

# shellcheck source=tests/lib/guest.sh
. "$(dirname "$0")/../../lib/guest.sh"
guest run "--cpus=1 --rootfs=none --timeout=3600" tests/system/guest/record-edges
