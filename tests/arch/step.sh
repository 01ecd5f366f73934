#!/bin/sh
# SPDX-License-Identifier: MIT
# SPDX-FileCopyrightText: 2026 The sfjit authors
#
# Description: tests/arch/step.py, of the machine that is named.

# shellcheck source=tests/lib/tap.sh
. "$(dirname "$0")/../lib/tap.sh"
# shellcheck source=tests/arch/machine.sh
. tests/arch/machine.sh
also env PYTHONPATH=tests/lib python3 -B tests/arch/step.py "$machine" "$arch"
finish
