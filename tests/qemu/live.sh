#!/bin/sh
# SPDX-License-Identifier: MIT
# SPDX-FileCopyrightText: 2026 The sfjit authors
#
# Live windows of the library, with the true stack at each instruction.

set -eu
kernel=${SFJIT_KERNEL:-patched} kernel=${kernel##*/}
cd "$(dirname "$0")/../.."
tests/qemu/build >&2
exec tools/guest --rootfs=none --name="live-$kernel" -- \
	tests/in-guest libsfjit_live_test
