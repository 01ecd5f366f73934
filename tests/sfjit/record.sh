#!/bin/sh
# SPDX-License-Identifier: MIT
# SPDX-FileCopyrightText: 2026 The sfjit authors
#
# Description: sfjit record and sfjit inject keep existing files and everything
# recorded, whatever the output is and however the recording ends; samples wait
# for code that is described late. A program of the test replaces perf.

# shellcheck source=tests/lib/tap.sh
. "$(dirname "$0")/../lib/tap.sh"

command -v python3 >/dev/null || skip_all "python3 is not installed"
for part in arguments build_ids late outputs signals; do
	mkdir "$tmp/$part"
	also python3 -B "tests/sfjit/record/test_$part.py" "$O/bin/sfjit" \
		"$tmp/$part"
done
finish
