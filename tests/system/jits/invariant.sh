#!/bin/sh
# SPDX-License-Identifier: MIT
# SPDX-FileCopyrightText: 2026 The sfjit authors
#
# Under sfjit a stack has at least the true frames that plain frame pointers find,
# and no wrong one, and the kernel counts why it ends early.

# shellcheck source=tests/lib/guest.sh
. "$(dirname "$0")/../../lib/guest.sh"
guest invariant "--cpus=1 --mem=2048" tests/system/jits/record-invariant
