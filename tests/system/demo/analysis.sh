#!/bin/sh
# SPDX-License-Identifier: MIT
# SPDX-FileCopyrightText: 2026 The sfjit authors
#
# What the demo's figures are made of, on recordings whose figures are known.

# shellcheck source=tests/lib/tap.sh
. "$(dirname "$0")/../../lib/tap.sh"

command -v python3 >/dev/null || skip_all "python3 is not installed"
also python3 -B tests/system/demo/test_analysis.py "$tmp"
finish
