#!/bin/sh
# SPDX-License-Identifier: MIT
# SPDX-FileCopyrightText: 2026 The sfjit authors
#
# usage: tests/arch/units.sh MACHINE PART...
#
# Description: tests of this machine, run on the machine that is named: those of
# directories of build/tests, and the commands of sfjit.

# shellcheck source=tests/lib/tap.sh
. "$(dirname "$0")/../lib/tap.sh"
# shellcheck source=tests/arch/machine.sh
. tests/arch/machine.sh

export SFJIT_EMULATED=1
# units DIRECTORY
units() {
	[ -d "$arch/tests/$1" ] || not_ok "$1" "none is built"
	for unit in "$arch/tests/$1"/*; do
		[ -f "$unit" ] || continue
		case $abi:$1/${unit##*/} in
		# SFrame has no number for it: no sections.
		0:libsfjit/register) continue ;;
		esac
		also "$emulator" "$unit"
	done
}

# What needs libelf is not built, and so not named.
sfjit() {
	sfjit=$arch/bin/sfjit
	commands=$("$emulator" "$sfjit" --help |
		sed -n 's/^  \([a-z][a-z]*\)  .*/\1/p' | tr '\n' ' ')
	is "commands of sfjit" "run ps doctor cache " "$commands"
	for command in $commands; do
		like "sfjit $command" "Usage: sfjit $command *" \
			"$("$emulator" "$sfjit" "$command" --help)"
	done
	is "sfjit record" "sfjit: no such command: record" \
		"$("$emulator" "$sfjit" record 2>&1 | head -n 1)"
}

shift
for part; do
	case $part in
	sfjit) sfjit ;;
	*) units "$part" ;;
	esac
done
finish
