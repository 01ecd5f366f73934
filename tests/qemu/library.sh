#!/bin/sh
# SPDX-License-Identifier: MIT
# SPDX-FileCopyrightText: 2026 The sfjit authors
#
# Description: the library on the patched kernel: every error of registration,
# windows of pools in the process and its children, filters that hide windows
# which were registered before.

cd "$(dirname "$0")/../.." || exit 1
O=${O:-build}

# shellcheck disable=SC2016
exec tools/guest --name=library -- sh -c '
	rc=0
	for test in "guest/lib-kernel" "unit/lib-absent filters" \
		unit/lib-call unit/lib-pool unit/lib-threads; do
		echo "# $test"
		'"$O"'/tests/$test || rc=1
	done
	exit $rc'
