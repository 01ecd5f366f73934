#!/bin/sh
# SPDX-License-Identifier: MIT
# SPDX-FileCopyrightText: 2026 The sfjit authors
#
# The template for "perf script report flamegraph", filled as perf does it, in
# headless Chromium: each box has its width, mouse and keys do what they should,
# names are only text, in light and dark, without network.

set -eu
# shellcheck source=tests/lib/tap.sh
. "$(dirname "$0")/../../lib/tap.sh"
# shellcheck source=tests/system/demo/browser.sh
. "$(dirname "$0")/browser.sh"

python3 -B tests/system/demo/flamegraph.py userspace/sfjit/flamegraph.html "$tmp"
dark=--blink-settings=preferredColorScheme=0
light=--blink-settings=preferredColorScheme=1
for page in stacks empty orange options; do
	chrome $page $light --dump-dom "file://$tmp/$page.html"
done
chrome template $light --dump-dom "file://$top/userspace/sfjit/flamegraph.html"
chrome dark $dark --dump-dom "file://$tmp/stacks.html"
chrome address $light --dump-dom "file://$tmp/stacks.html#search=B%3A"
also python3 -B tests/system/demo/test_flamegraph.py "$tmp"
finish
