#!/bin/sh
# SPDX-License-Identifier: MIT
# SPDX-FileCopyrightText: 2026 The sfjit authors
#
# Description: the library on the patched kernel: every error of registration,
# windows of pools in the process and its children, filters that hide windows
# which were registered before, a program that covers itself.

# shellcheck source=tests/lib/guest.sh
. "$(dirname "$0")/../lib/guest.sh"
guest library "" build/tests/guest/lib-kernel \
	"build/tests/unit/lib-absent filters" \
	"build/tests/unit/lib-cover build/tests/run/plugin1.so" \
	build/tests/unit/lib-client build/tests/unit/lib-call build/tests/unit/lib-pool \
	build/tests/unit/lib-threads
