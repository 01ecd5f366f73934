#!/bin/sh
# SPDX-License-Identifier: MIT
# SPDX-FileCopyrightText: 2026 The sfjit authors
#
# Description: /proc/PID/sframe on the patched kernel: format, reads between
# changes, who may read it, files that outlive what they show.

cd "$(dirname "$0")/../.." || exit 1
O=${O:-build}

make -s "$O/tests/guest/proc_test" >&2 || exit 1
exec tools/guest --rootfs=none --name=proc -- "$O/tests/guest/proc_test"
