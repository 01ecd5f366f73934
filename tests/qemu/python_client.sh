#!/bin/sh
# SPDX-License-Identifier: MIT
# SPDX-FileCopyrightText: 2026 The sfjit authors
#
# Description: the CPython client with the interpreter that it is for, on the
# patched kernel, alone and under sfjit run; and the stacks that perf gets.

cd "$(dirname "$0")/../.." || exit 1
# shellcheck disable=SC2016
exec tools/guest --name=python-client --timeout=900 -- sh -c '
	rc=0
	export HOME=/root
	sh tests/unit/run-python.sh || rc=1
	build/bin/sfjit run -- sh tests/unit/run-python.sh || rc=1
	sh tests/unit/run/guest_stacks.sh python || rc=1
	exit $rc'
