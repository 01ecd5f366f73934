#!/bin/sh
# SPDX-License-Identifier: MIT
# SPDX-FileCopyrightText: 2026 The sfjit authors
#
# In the guest: callchains in code of a small JIT that describes it, with sfjit
# and without; and windows of a program where sfjit run has some, too.

# shellcheck source=tests/lib/tap.sh
. "$(dirname "$0")/../lib/tap.sh"
# shellcheck source=tests/preload/lib.sh
. "$top/tests/preload/lib.sh"

also "$sfjit" run -o "$log" -- "$run/jit" walk
also "$sfjit" run -o "$log" -- "$run/jit-mistakes" walk-mistakes
also "$sfjit" run -o "$log" -- "$run/jit" walk-many
also "$sfjit" run -o "$log" -- "$run/guess"
also "$sfjit" run -o "$log" -- "$run/lazy"
also "$run/jit" walk without
also "$run/jit" walk-many without
finish
