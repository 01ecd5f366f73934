#!/bin/sh
# SPDX-License-Identifier: MIT
# SPDX-FileCopyrightText: 2026 The sfjit authors
#
# The selftests on a kernel that checks itself.

: "${SFJIT_KERNEL:=debug}"
export SFJIT_KERNEL
exec "$(dirname "$0")/../qemu/kselftest.sh"
