#!/bin/sh
# SPDX-License-Identifier: MIT
# SPDX-FileCopyrightText: 2026 The sfjit authors
#
# Description: sfjit daemon on the patched kernel: 2,000 short processes, 300 at
# once, lost events; files of a user who means harm; a file system that does not
# answer; little memory.

# shellcheck source=tests/lib/guest.sh
. "$(dirname "$0")/../../lib/guest.sh"
guest daemon-load --timeout=1800 tests/sfjit/guest_daemon_many.sh \
	tests/sfjit/guest_daemon_hostile.sh tests/sfjit/guest_daemon_blocked.sh
