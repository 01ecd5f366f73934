#!/bin/sh
# SPDX-License-Identifier: MIT
# SPDX-FileCopyrightText: 2026 The sfjit authors
#
# Description: tests of this machine, run on the machine that is named.

# shellcheck source=tests/lib/tap.sh
. "$(dirname "$0")/../lib/tap.sh"
# shellcheck source=tests/arch/machine.sh
. tests/arch/machine.sh

export SFJIT_EMULATED=1
for unit in "$arch"/tests/libsfjit/* "$arch"/tests/preload/* \
	"$arch"/tests/sframegen/* "$arch"/tests/arch/unit/*; do
	[ -f "$unit" ] || continue
	case $abi:${unit#*/tests/} in
	# SFrame has no number for it: no sections.
	0:libsfjit/area | 0:libsfjit/register) continue ;;
	esac
	also "$emulator" "$unit"
done

# What needs libelf is not built, and so not named.
sfjit=$arch/bin/sfjit
if [ -e "$sfjit" ]; then
	commands=$("$emulator" "$sfjit" --help |
		sed -n 's/^  \([a-z][a-z]*\)  .*/\1/p' | tr '\n' ' ')
	is "commands of sfjit" "run ps doctor cache " "$commands"
	for command in $commands; do
		like "sfjit $command" "Usage: sfjit $command *" \
			"$("$emulator" "$sfjit" "$command" --help)"
	done
	is "sfjit record" "sfjit: no such command: record" \
		"$("$emulator" "$sfjit" record 2>&1 | head -n 1)"
fi
finish
