#!/bin/sh
# SPDX-License-Identifier: MIT
# SPDX-FileCopyrightText: 2026 The sfjit authors
#
# Description: sfjit ps on the patched kernel, compared with /proc; or on the
# unpatched one, where it says so.

# shellcheck source=tests/lib/tap.sh
. "$(dirname "$0")/../../lib/tap.sh"
if [ "$SFJIT_KERNEL" != unpatched ]; then
	also tools/guest --name=ps -- tests/sfjit/guest_ps.sh
	finish
fi
said=$(tools/guest --name=ps-unpatched -- \
	sh -c 'build/bin/sfjit ps $$; build/bin/sfjit ps' 2>&1)
like "kernel without windows" \
	"sfjit: [1-9]*: this kernel has no /proc/PID/sframe
sfjit: /proc: this kernel has no /proc/PID/sframe*" "$said"
finish
