#!/bin/sh
# SPDX-License-Identifier: MIT
# SPDX-FileCopyrightText: 2026 The sfjit authors
#
# The kernel's selftests of SFrame windows, one guest for all of them.

set -eu
kernel=${SFJIT_KERNEL:-patched} kernel=${kernel##*/}
cd "$(dirname "$0")/../.."
tests/qemu/build >&2
# shellcheck disable=SC2046 # names without blanks
exec tools/guest --rootfs=none --timeout=1800 --name="kselftest-$kernel" -- \
	tests/in-guest $(tests/qemu/selftests) libsfjit_test
