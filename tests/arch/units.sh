#!/bin/sh
# SPDX-License-Identifier: MIT
# SPDX-FileCopyrightText: 2026 The sfjit authors
#
# Description: tests of the lane unit on the machine that is named.

# shellcheck source=tests/lib/case.sh
. "$(dirname "$0")/../lib/case.sh"
machine=$1
command -v "qemu-$machine" >/dev/null ||
	skip_all "qemu-$machine is not installed"
QEMU_LD_PREFIX=/usr/$(echo "$machine-linux-gnu" | sed 's/^ppc/powerpc/')
export QEMU_LD_PREFIX SFJIT_EMULATED=1

for unit in "$O/arch/$machine/tests/unit"/*; do
	case $machine:$unit in
	# SFrame has no number for these two.
	ppc64le:*/lib-area | ppc64le:*/lib-register) continue ;;
	riscv64:*/lib-area | riscv64:*/lib-register) continue ;;
	esac
	also "qemu-$machine" "$unit"
done
finish
