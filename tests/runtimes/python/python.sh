#!/bin/sh
# SPDX-License-Identifier: MIT
# SPDX-FileCopyrightText: 2026 The sfjit authors
#
# Description: the CPython client, where there is a CPython that it is for. The
# same cases run in the guest: tests/system/guest/python_client.sh.

# shellcheck source=tests/lib/tap.sh
. "$(dirname "$0")/../../lib/tap.sh"
# The extension is made for Debian's build of the interpreter.
if ! PYTHONPATH=$O/lib/python PYTHONDONTWRITEBYTECODE=1 \
	/usr/bin/python3 -c 'import sys, sfjit
sys.exit(sys.version_info[:2] != (3, 13))' 2>/dev/null; then
	skip_all "no python3.13 here; the guest has it"
fi
also env PYTHONPATH="$O/lib/python" PYTHONDONTWRITEBYTECODE=1 \
	/usr/bin/python3 tests/runtimes/python/python_cases.py
finish
