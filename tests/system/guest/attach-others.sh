#!/bin/sh
# SPDX-License-Identifier: MIT
# SPDX-FileCopyrightText: 2026 The sfjit authors
#
# Description: sfjit attach to other users' processes, in a chroot and in
# containers, and to those with more rights: stacks are exact, or it is refused.

# shellcheck source=tests/lib/guest.sh
. "$(dirname "$0")/../../lib/guest.sh"
guest attach-others "--timeout=3600" tests/sfjit/guest_attach_others.sh
