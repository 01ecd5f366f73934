#!/bin/sh
# SPDX-License-Identifier: MIT
# SPDX-FileCopyrightText: 2026 The sfjit authors
#
# Description: sfjit doctor on the patched kernel, with each thing broken that it
# looks for, and on the unpatched one.

# shellcheck source=tests/lib/case.sh
. "$(dirname "$0")/../lib/case.sh"
also tools/guest --name=doctor -- tests/unit/run/guest_doctor.sh
also tools/guest --kernel=unpatched --name=doctor-unpatched -- \
	tests/unit/run/guest_doctor.sh
finish
