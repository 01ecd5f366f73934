#!/bin/sh
# SPDX-License-Identifier: MIT
# SPDX-FileCopyrightText: 2026 The sfjit authors
#
# Description: tests/arch/step.py, of the machine that is named.

# shellcheck source=tests/lib/case.sh
. "$(dirname "$0")/../lib/case.sh"
command -v "qemu-$1" >/dev/null || skip_all "qemu-$1 is not installed"
also env PYTHONPATH=tests/lib python3 -B tests/arch/step.py "$1" "qemu-$1" "$O/arch/$1"
finish
