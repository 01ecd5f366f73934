#!/bin/sh
# SPDX-License-Identifier: MIT
# SPDX-FileCopyrightText: 2026 The sfjit authors
#
# The pages of the demo and of tools/jits in headless Chromium: drawn without
# network, readable data in them, search works; a screenshot has every colour it
# should and none it should not. SHOT=FILE keeps the picture.

set -eu
# shellcheck source=tests/lib/tap.sh
. "$(dirname "$0")/../../lib/tap.sh"
# shellcheck source=tests/system/demo/browser.sh
. "$(dirname "$0")/browser.sh"

python3 -B tests/system/demo/recording.py "$tmp/recording"
python3 -B tools/demo.d/analyse --allow-few "$tmp/recording" "$tmp/out" \
	>"$tmp/log" 2>&1 || { cat "$tmp/log"; exit 1; }
page=$tmp/out/flamegraph.html

chrome plain --dump-dom "file://$page"
chrome found --dump-dom "file://$page#search=EVALFRAME"
chrome shot --screenshot="$tmp/plain.png" "file://$page"
chrome shot --screenshot="$tmp/found.png" "file://$page#search=EVALFRAME"
[ -z "${SHOT:-}" ] || cp "$tmp/found.png" "$SHOT"
also python3 -B tests/system/demo/test_page.py "$tmp" "$page"

python3 -B tests/system/jits/page_output.py "$tmp/jits"
python3 -B tools/jits.d/analyse --page "$tmp/jits" >"$tmp/log" 2>&1 ||
	{ cat "$tmp/log"; exit 1; }
chrome jits --dump-dom "file://$tmp/jits/flamegraph.html"
also python3 -B tests/system/jits/test_page.py "$tmp/jits/flamegraph.html" \
	"$tmp/jits.dom"
finish
