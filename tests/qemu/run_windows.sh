#!/bin/sh
# SPDX-License-Identifier: MIT
# SPDX-FileCopyrightText: 2026 The sfjit authors
#
# Description: sfjit run on the patched kernel: the tests of the unpatched one
# again, windows that come and go with libraries, stacks of forked children.

cd "$(dirname "$0")/../.." || exit 1
# shellcheck disable=SC2016
exec tools/guest --name=run-windows --timeout=900 -- sh -c '
	rc=0
	for test in messages unchanged modules cache; do
		sh "tests/unit/run-$test.sh" || rc=1
	done
	sh tests/unit/run/guest_windows.sh || rc=1
	sh tests/unit/run/guest_stacks.sh prefork || rc=1
	exit $rc'
