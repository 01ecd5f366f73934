#!/bin/sh
# SPDX-License-Identifier: MIT
# SPDX-FileCopyrightText: 2026 The sfjit authors
#
# The module for unmodified kernels, on Debian's: who may register, stacks of
# python3 address by address, unloading while samples are taken.

# shellcheck source=tests/lib/guest.sh
. "$(dirname "$0")/../../lib/guest.sh"
tools/stock-kernel --module "${kernel#stock-}" >&2
guest stock "--timeout=900" tests/kernel/module/stock-guest
