#!/bin/sh
# SPDX-License-Identifier: MIT
# SPDX-FileCopyrightText: 2026 The sfjit authors
#
# Description: tests of the lane unit on the machine that is named.

# shellcheck source=tests/lib/case.sh
. "$(dirname "$0")/../lib/case.sh"
# shellcheck source=tests/arch/machine.sh
. tests/arch/machine.sh

export SFJIT_EMULATED=1
for unit in "$arch/tests/unit"/*; do
	case $abi:${unit##*/} in
	# SFrame has no number for it: no sections.
	0:lib-area | 0:lib-register) continue ;;
	esac
	also "$emulator" "$unit"
done
finish
