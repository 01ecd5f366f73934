# SPDX-License-Identifier: MIT
# SPDX-FileCopyrightText: 2026 The sfjit authors
# shellcheck shell=sh
#
# Sourced before tests/lib/tap.sh: runs the test again with its own /tmp, if
# this machine can. Tables that the user's cache refuses are kept there.

if [ -z "${own_tmp-}" ] && command -v mount >/dev/null && unshare -m true 2>/dev/null; then
	export own_tmp=yes
	exec unshare -m "$(dirname "$0")/../sfjit/programs/own_tmp.sh" "$0"
fi
