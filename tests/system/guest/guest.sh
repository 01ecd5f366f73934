#!/bin/sh
# SPDX-License-Identifier: MIT
# SPDX-FileCopyrightText: 2026 The sfjit authors
#
# Description: tools/guest --shell with commands by a pipe and on a terminal, and
# a program of a package that --with adds.

# shellcheck source=tests/lib/tap.sh
. "$(dirname "$0")/../../lib/tap.sh"

# Bash takes no more of its input than the line it runs.
said=$(tools/guest --shell --with=openssl --name=shell-pipe <<'END'
openssl version | cut -d ' ' -f 1
tty
read -r line
for the command
echo "$line"; exit 7
echo not reached
END
)
is "commands by a pipe: status" 7 $?
is "commands by a pipe: output" \
	"OpenSSL|not a tty|for the command|" "$(echo "$said" | tr '\n' '|')"

seq 100000 >"$tmp/input"
said=$(tools/guest --shell --rootfs=none --name=shell-input -- md5sum \
	<"$tmp/input")
is "input of a command" "$(md5sum <"$tmp/input")" "$said"

also python3 -B tests/system/guest/guest_terminal.py
finish
