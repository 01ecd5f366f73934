# SPDX-License-Identifier: MIT
# SPDX-FileCopyrightText: 2026 The sfjit authors
# shellcheck shell=sh
#
# Sourced after tests/lib/tap.sh by what takes the name of a machine: $machine,
# what its psabi.py has as $triple, $entry, $emulator and $abi, and $arch, where its
# programs are.

machine=$1
eval "$(python3 -B tests/arch/machines.py "$machine")"
command -v "$emulator" >/dev/null || skip_all "$emulator is not installed"
arch=$O/arch/$machine
export QEMU_LD_PREFIX="/usr/$triple"
