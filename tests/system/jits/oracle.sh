#!/bin/sh
# SPDX-License-Identifier: MIT
# SPDX-FileCopyrightText: 2026 The sfjit authors
#
# What libdw, as the judge of tools/jits, says of a chain that is known to be
# exact, and of bad ones.

# shellcheck source=tests/lib/tap.sh
. "$(dirname "$0")/../../lib/tap.sh"

also python3 -B tests/system/jits/test_oracle.py "$O/tests/system/jits/oracle" \
	"$O/tests/system/jits/sample" "$tmp"
finish
