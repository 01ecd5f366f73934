#!/bin/sh
# SPDX-License-Identifier: MIT
# SPDX-FileCopyrightText: 2026 The sfjit authors
#
# Description: sfjit doctor on the kernel of $SFJIT_KERNEL, with each thing broken that
# it looks for.

# shellcheck source=tests/lib/tap.sh
. "$(dirname "$0")/../../lib/tap.sh"
also tools/guest --name="doctor-$SFJIT_KERNEL" -- \
	tests/sfjit/guest_doctor.sh
finish
