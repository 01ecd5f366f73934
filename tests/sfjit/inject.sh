#!/bin/sh
# SPDX-License-Identifier: MIT
# SPDX-FileCopyrightText: 2026 The sfjit authors
#
# sfjit inject and sfjit explain with artificial recordings of known content,
# also truncated and changed at each byte. Every access is checked.

# shellcheck source=tests/lib/tap.sh
. "$(dirname "$0")/../lib/tap.sh"

command -v python3 >/dev/null || skip_all "python3 is not installed"
parts=tests/sfjit/inject
also python3 -B $parts/test_inject.py "$O/tests/sfjit/programs/inject-fake" "$tmp"
also python3 -B $parts/test_explain.py "$O/tests/sfjit/programs/inject-fake" "$tmp"
also python3 -B $parts/test_memory.py "$O/bin/sfjit"
mkdir "$tmp/small"
python3 -B $parts/samples.py "$tmp/small"
also "$O/tests/sfjit/programs/inject-mutate" "$tmp"/small/*
finish
