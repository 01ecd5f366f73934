#!/bin/sh
# SPDX-License-Identifier: MIT
# SPDX-FileCopyrightText: 2026 The sfjit authors
#
# Calls with generated arguments, on a kernel that checks itself.

: "${SFJIT_KERNEL:=debug}"
export SFJIT_KERNEL
exec "$(dirname "$0")/../prctl/generated-calls" 500000
