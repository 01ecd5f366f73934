# SPDX-License-Identifier: MIT
# SPDX-FileCopyrightText: 2026 The sfjit authors
# shellcheck shell=sh
#
# Sourced before tests/lib/tap.sh: runs the test again with a /tmp of its own, where
# this machine can. Tables that the user's cache does not take are kept there.

if [ -z "${own_tmp-}" ] && command -v mount >/dev/null && unshare -m true 2>/dev/null; then
	export own_tmp=yes
	exec unshare -m "$(dirname "$0")/../sfjit/programs/own_tmp.sh" "$0"
fi
