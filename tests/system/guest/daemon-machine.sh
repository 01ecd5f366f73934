#!/bin/sh
# SPDX-License-Identifier: MIT
# SPDX-FileCopyrightText: 2026 The sfjit authors
#
# Description: sfjit daemon on AArch64, with signed return addresses, or on s390x.

# shellcheck source=tests/lib/guest.sh
. "$(dirname "$0")/../../lib/guest.sh"
guest daemon "--cpus=1 --timeout=3600" tests/sfjit/guest_daemon_machine.sh
