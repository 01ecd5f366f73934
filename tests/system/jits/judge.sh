#!/bin/sh
# SPDX-License-Identifier: MIT
# SPDX-FileCopyrightText: 2026 The sfjit authors
#
# What the judge of tools/jits says of stacks that are known to be exact, and of
# known bad ones; what the test says of figures; the table of bench/programs; and the
# page that the judge makes of what it found.

# shellcheck source=tests/lib/tap.sh
. "$(dirname "$0")/../../lib/tap.sh"

command -v python3 >/dev/null || skip_all "python3 is not installed"
also python3 -B tests/system/jits/test_judge.py "$O/tests/system/jits/jits-calls"
also python3 -B tests/system/jits/test_check.py "$tmp"
also python3 -B tests/system/jits/test_programs.py "$tmp"
python3 -B tests/system/jits/page_output.py "$tmp/out"
is "the page: what is printed" \
	"Flame graphs: $tmp/out/flamegraph.html (open it in a browser)" \
	"$(python3 -B tools/jits.d/analyse --page "$tmp/out" 2>&1)"
also python3 -B tests/system/jits/test_page.py "$tmp/out/flamegraph.html"
rm "$tmp/out/result.json"
like "the page: without figures" "analyse: *result.json*" \
	"$(python3 -B tools/jits.d/analyse --page "$tmp/out" 2>&1)"
finish
