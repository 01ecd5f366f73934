#!/bin/sh
# SPDX-License-Identifier: MIT
# SPDX-FileCopyrightText: 2026 The sfjit authors
#
# Description: the machine that is named converts the call frame information of
# the C library of each machine to the same bytes as this one does, and of its
# own rows.

# shellcheck source=tests/lib/tap.sh
. "$(dirname "$0")/../lib/tap.sh"
# shellcheck source=tests/arch/machine.sh
. tests/arch/machine.sh

there() { "$emulator" "$arch/tests/arch/$@"; }

# same NAME ABI TRIPLE FILE
same() {
	"$3-objcopy" -O binary --only-section=.eh_frame "$4" "$tmp/cfi"
	address=0x$(readelf -SW "$4" | sed -n 's/.* \.eh_frame *PROGBITS *\([0-9a-f]*\).*/\1/p')
	"$O/tests/arch/convert" "$2" "$address" "$tmp/cfi" "$tmp/here" || return
	there convert "$2" "$address" "$tmp/cfi" "$tmp/there" || return
	[ "$(wc -c <"$tmp/here")" -gt 40000 ] && cmp "$tmp/here" "$tmp/there"
}

libc=lib/libc.so.6
for of in aarch64:2 s390x:4; do
	name=${of%:*}
	works "section of the C library of $name" same "$name" "${of#*:}" \
		"$name-linux-gnu" "/usr/$name-linux-gnu/$libc"
done
works "section of the C library of x86_64" same x86_64 3 x86_64-linux-gnu \
	/lib/x86_64-linux-gnu/libc.so.6
# Little-endian RISC-V, by EI_DATA and e_machine.
is "a machine without sections has none" "convert: -95: SFrame has no ABI number for it" \
	"$(there convert $((1 << 16 | 243)) 0 "$tmp/cfi" "$tmp/none" 2>&1)"
also there rows
# Without pointer authentication and landing pads.
! "$emulator" -cpu help | grep -qw cortex-a53 ||
	also env QEMU_CPU=cortex-a53 "$emulator" "$arch/tests/arch/rows"
finish
