#!/bin/sh
# SPDX-License-Identifier: MIT
# SPDX-FileCopyrightText: 2026 The sfjit authors
#
# Callchains taken in NMIs and irq_work, with a module for this purpose.

set -eu
kernel=${SFJIT_KERNEL:-patched} kernel=${kernel##*/}
cd "$(dirname "$0")/../.."
tests/qemu/build >&2
tests/qemu/build module >&2
exec tools/guest --rootfs=none --name="nmi-$kernel" -- \
	tests/in-guest "build/module/$kernel/sframe_probe.ko" nmi_test
