#!/bin/sh
# SPDX-License-Identifier: MIT
# SPDX-FileCopyrightText: 2026 The sfjit authors
#
# Description: sfjit daemon on the patched kernel: programs before it and after it, in
# another root, setuid, static, replaced, rewritten and deleted ones, file systems that
# are unmounted; its end.

# shellcheck source=tests/lib/guest.sh
. "$(dirname "$0")/../../lib/guest.sh"
guest daemon --timeout=1800 tests/sfjit/guest_daemon.sh
