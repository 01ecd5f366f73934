#!/bin/sh
# SPDX-License-Identifier: MIT
# SPDX-FileCopyrightText: 2026 The sfjit authors
#
# The kernel's selftests of SFrame windows, one guest for all of them.

set -eu
kernel=${SFJIT_KERNEL:-patched} kernel=${kernel##*/}
cd "$(dirname "$0")/../.."
tests/qemu/build >&2
exec tools/guest --rootfs=none --name="kselftest-$kernel" -- \
	tests/qemu/in-guest \
	abi_test life_test callchain_test rows_test hostile_test probe_test \
	libsfjit_test
