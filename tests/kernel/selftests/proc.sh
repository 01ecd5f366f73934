#!/bin/sh
# SPDX-License-Identifier: MIT
# SPDX-FileCopyrightText: 2026 The sfjit authors
#
# Description: /proc/PID/sframe on the patched kernel: format, reads between
# changes, who may read it, files that outlive what they show.

# shellcheck source=tests/lib/guest.sh
. "$(dirname "$0")/../../lib/guest.sh"
tools/make -s build/tests/kernel/selftests/proc_test >&2
guest proc --rootfs=none build/tests/kernel/selftests/proc_test
