#!/bin/sh
# SPDX-License-Identifier: MIT
# SPDX-FileCopyrightText: 2026 The sfjit authors
#
# The KUnit suites of decoder and registry, which are part of the kernel.

set -eu
kernel=${SFJIT_KERNEL:-patched} kernel=${kernel##*/}
cd "$(dirname "$0")/../.."
exec tools/guest --rootfs=none --name="kunit-$kernel" -- \
	tests/kunit/run-suites sframe_section sframe_step sframe_registry
