# SPDX-License-Identifier: MIT
# SPDX-FileCopyrightText: 2026 The sfjit authors
# shellcheck shell=sh
#
# For tests of pages, sourced after tap.sh: chrome() is headless Chromium, without
# network.

command -v python3 >/dev/null || skip_all "python3 is not installed"
browser=
for name in chromium chromium-browser google-chrome; do
	[ -n "$browser" ] || browser=$(command -v $name) || :
done
[ -n "$browser" ] || skip_all "chromium is not installed"

# Everything the page says on its console ends in the log; a name that does not
# resolve would be a load from the network.
run_chrome() {
	timeout 600 "$browser" --headless=new --no-sandbox --disable-gpu \
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
