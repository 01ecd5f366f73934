#!/bin/sh
# SPDX-License-Identifier: MIT
# SPDX-FileCopyrightText: 2026 The sfjit authors
#
# Description: sfjit explain of recordings of the patched kernel, of programs under
# sfjit run and without it.

# shellcheck source=tests/lib/guest.sh
. "$(dirname "$0")/../../lib/guest.sh"
guest explain --cpus=1 tests/sfjit/guest_explain.sh
