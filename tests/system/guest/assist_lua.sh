#!/bin/sh
# SPDX-License-Identifier: MIT
# SPDX-FileCopyrightText: 2026 The sfjit authors
#
# Description: functions of Lua in call chains, with the Lua of Debian 13, alone
# and in a program of Python.

# shellcheck source=tests/lib/guest.sh
. "$(dirname "$0")/../../lib/guest.sh"
guest assist-lua "--cpus=1 --with=lua5.4,liblua5.4-0" tests/runtimes/lua/guest_lua.sh
