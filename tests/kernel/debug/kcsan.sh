#!/bin/sh
# SPDX-License-Identifier: MIT
# SPDX-FileCopyrightText: 2026 The sfjit authors
#
# A data race made on purpose is found, and tools/guest takes it for a failure.
# Which ones it does not: tests/tools/guest-complaints.sh.

set -eu
: "${SFJIT_KERNEL:=kcsan}"
export SFJIT_KERNEL
# shellcheck source=tests/lib/tap.sh
. "$(dirname "$0")/../../lib/tap.sh"
tests/kernel/selftests/build module >&2
# shellcheck source=tests/kernel/module/planted.sh
. "$top/tests/kernel/module/planted.sh"

plant kcsan race
found race 'BUG: KCSAN: data-race in planted_race_thread'
finish
