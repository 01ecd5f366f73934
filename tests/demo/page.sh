#!/bin/sh
# SPDX-License-Identifier: MIT
# SPDX-FileCopyrightText: 2026 The sfjit authors
#
# The pages of the demo and of tools/jits in headless Chromium: drawn without
# network, readable data in them, search works; a screenshot has every colour it
# should and none it should not. SHOT=FILE keeps the picture.

set -eu
# shellcheck source=tests/lib/case.sh
. "$(dirname "$0")/../lib/case.sh"

command -v python3 >/dev/null || skip_all "python3 is not installed"
browser=
for name in chromium chromium-browser google-chrome; do
	[ -n "$browser" ] || browser=$(command -v $name) || :
done
[ -n "$browser" ] || skip_all "chromium is not installed"

python3 -B tests/demo/recording.py "$tmp/recording"
python3 -B tools/demo.d/analyse --allow-few "$tmp/recording" "$tmp/out" \
	>"$tmp/log" 2>&1 || { cat "$tmp/log"; exit 1; }
page=$tmp/out/flamegraph.html

# Everything the page says on its console ends in the log; a name that does not
# resolve would be a load from the network.
run_chrome() {
	timeout 120 "$browser" --headless=new --no-sandbox --disable-gpu \
		--no-first-run --disable-extensions --disable-dev-shm-usage \
		--user-data-dir="$tmp/profile" --hide-scrollbars \
		--host-resolver-rules='MAP * ~NOTFOUND' \
		--enable-logging=stderr --force-device-scale-factor=1 \
		--window-size=1600,1800 --virtual-time-budget=5000 "$@"
}

# chrome NAME ARGS...: what it prints is NAME.dom and NAME.log. It may fail to
# start on a machine with other work, and is asked again; its pages are not.
chrome() {
	_name=$tmp/$1
	shift
	run_chrome "$@" >"$_name.dom" 2>"$_name.log" ||
		run_chrome "$@" >"$_name.dom" 2>"$_name.log"
}

chrome plain --dump-dom "file://$page"
chrome found --dump-dom "file://$page#search=EVALFRAME"
chrome shot --screenshot="$tmp/plain.png" "file://$page"
chrome shot --screenshot="$tmp/found.png" "file://$page#search=EVALFRAME"
[ -z "${SHOT:-}" ] || cp "$tmp/found.png" "$SHOT"
also python3 -B tests/demo/test_page.py "$tmp" "$page"

python3 -B tests/jits/page_output.py "$tmp/jits"
python3 -B tools/jits.d/analyse --page "$tmp/jits" >"$tmp/log" 2>&1 ||
	{ cat "$tmp/log"; exit 1; }
chrome jits --dump-dom "file://$tmp/jits/flamegraph.html"
also python3 -B tests/jits/test_page.py "$tmp/jits/flamegraph.html" \
	"$tmp/jits.dom"
finish
