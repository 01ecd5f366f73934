#!/bin/sh
# SPDX-License-Identifier: MIT
# SPDX-FileCopyrightText: 2026 The sfjit authors
#
# Description: the library on the patched kernel: every error of registration,
# windows of pools in the process and its children, filters that hide windows
# which were registered before, a program that covers itself.

# shellcheck source=tests/lib/guest.sh
. "$(dirname "$0")/../../lib/guest.sh"
guest library "" build/tests/libsfjit/programs/kernel \
	"build/tests/libsfjit/absent filters" \
	"build/tests/libsfjit/cover build/tests/preload/programs/plugin1.so" \
	build/tests/libsfjit/client build/tests/libsfjit/call build/tests/libsfjit/pool \
	build/tests/libsfjit/threads
