#!/bin/sh
# SPDX-License-Identifier: MIT
# SPDX-FileCopyrightText: 2026 The sfjit authors
#
# Where SFrame has no number for a machine: Debian's kernel and perf find the
# callers of trampolines by --call-graph=dwarf and a jitdump.

# shellcheck source=tests/lib/guest.sh
. "$(dirname "$0")/../../lib/guest.sh"
guest perf-dwarf --cpus=1 tests/system/perf/record-dwarf
