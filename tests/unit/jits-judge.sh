#!/bin/sh
# SPDX-License-Identifier: MIT
# SPDX-FileCopyrightText: 2026 The sfjit authors
#
# What the judge of tools/jits says of stacks that are known to be exact, and of
# known bad ones.

# shellcheck source=tests/lib/case.sh
. "$(dirname "$0")/../lib/case.sh"

command -v python3 >/dev/null || skip_all "python3 is not installed"
also python3 -B tests/jits/test_judge.py "$O/tests/run/jits-calls"
finish
