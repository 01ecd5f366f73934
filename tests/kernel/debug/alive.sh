#!/bin/sh
# SPDX-License-Identifier: MIT
# SPDX-FileCopyrightText: 2026 The sfjit authors
#
# The checkers of a debug kernel find bugs made on purpose, and tools/guest
# takes what they say for a failure.

set -eu
: "${SFJIT_KERNEL:=debug}"
export SFJIT_KERNEL
# shellcheck source=tests/lib/tap.sh
. "$(dirname "$0")/../../lib/tap.sh"
tests/kernel/selftests/build module >&2
# shellcheck source=tests/kernel/module/planted.sh
. "$top/tests/kernel/module/planted.sh"

# Lockdep is quiet after the first report of its own or of KASAN.
plant "$SFJIT_KERNEL" rcu lock sleep kasan ubsan leak
found kasan 'BUG: KASAN: slab-out-of-bounds in planted_kasan'
found ubsan 'UBSAN: shift-out-of-bounds in .*planted'
found rcu 'WARNING: suspicious RCU usage'
found sleep 'BUG: sleeping function called from invalid context'
found leak 'kmemleak: .*planted_leak'
found lock 'WARNING: possible circular locking dependency detected'
finish
