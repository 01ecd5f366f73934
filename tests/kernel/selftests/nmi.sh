#!/bin/sh
# SPDX-License-Identifier: MIT
# SPDX-FileCopyrightText: 2026 The sfjit authors
#
# Callchains taken in NMIs and irq_work, with a module for this purpose.

# shellcheck source=tests/lib/guest.sh
. "$(dirname "$0")/../../lib/guest.sh"
tests/kernel/selftests/build >&2
tests/kernel/selftests/build module >&2
guest nmi --rootfs=none "build/module/$kernel/sframe_probe.ko" nmi_test
