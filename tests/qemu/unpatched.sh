#!/bin/sh
# SPDX-License-Identifier: MIT
# SPDX-FileCopyrightText: 2026 The sfjit authors
#
# On a kernel without SFrame windows every selftest is skipped, none fails.

set -eu
cd "$(dirname "$0")/../.."
tests/qemu/build >&2
# shellcheck disable=SC2046 # names without blanks
tools/guest --rootfs=none --kernel=unpatched --name=unpatched -- \
	tests/in-guest $(tests/qemu/selftests) |
	sed 's/^/  /' | awk '
		{ print }
		/^  skip - .*CONFIG_UNWIND_USER_SFRAME/ { skipped++; next }
		/^  (ok|not ok|skip) - / { other++; last = $0 }
		END {
			if (skipped > 300 && !other)
				print "ok - selftests: " skipped " skipped"
			else
				print "not ok - selftests: " skipped + 0 \
					" skipped, others " other + 0 ": " last
		}'
