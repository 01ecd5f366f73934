#!/bin/sh
# SPDX-License-Identifier: MIT
# SPDX-FileCopyrightText: 2026 The sfjit authors
#
# Description: tests/runtimes/python/reader.py, with Debian 13's CPython.

# shellcheck source=tests/lib/tap.sh
. "$(dirname "$0")/../../lib/tap.sh"
from=$(tools/cpython)/x86_64 || exit 1
lib=$from/usr/lib/x86_64-linux-gnu

# What the loader does at first calls has information that rows cannot express.
also env PYTHONHOME="$from/usr" PYTHONPATH="$O/tests/runtimes/python/programs" LD_BIND_NOW=1 \
	"$lib/ld-linux-x86-64.so.2" --library-path "$lib" \
	"$from/usr/bin/python3.13" -B tests/runtimes/python/reader.py
finish
