#!/bin/sh
# SPDX-License-Identifier: MIT
# SPDX-FileCopyrightText: 2026 The sfjit authors
#
# Description: of files for other machines, too, the row at every code byte with
# CFI equals libdw's rules, and all of it has a row but what the format cannot say.
# SFrame has no number for two of the machines: theirs is made up.
#
# usage: libdw-machines.sh [s390x]	with it, only Debian's programs for that

# shellcheck source=tests/lib/tap.sh
. "$(dirname "$0")/../lib/tap.sh"
# shellcheck source=tests/sframegen/common
. "$top/tests/sframegen/common"

# compare MACHINE FILE FUNCTIONS: at most so many are beyond the format
compare() {
	convert "$2" --trial-abi || return
	what="$1: $name"
	rows_are_libdws "$what" "$2" v3
	_without=$(awk '/^functions:/ { print $4 - $2 }' "$tmp/summary")
	if [ "$_without" -le "$3" ]; then
		ok "$what: $_without functions without rows"
	else
		not_ok "$what: rows" "$_without functions have none, not $3"
	fi
	convert "$2" --trial-abi --format packed &&
		rows_are_libdws "$what, packed" "$2" packed
}

# compare_debian MACHINE ARCH FUNCTIONS: the C library has so many
compare_debian() {
	_elf=$(tools/elf "$2" 2>/dev/null) || _elf=
	compare "Debian's, $1" "$_elf/libc.so.6" "$3"
	for _file in python3.13 libstdc++.so.6 libcrypto.so.3; do
		compare "Debian's, $1" "$_elf/$_file" 0
	done
}

if [ $# = 1 ]; then
	compare_debian "$1" "$1" 1
	finish
fi

# One function of some has another column for the return address, by which no rule
# of a row goes.
for machine in aarch64 powerpc64le riscv64 s390x; do
	lib=/usr/$machine-linux-gnu/lib
	[ -f "$lib/libc.so.6" ] || {
		skip "$machine" "its library is not installed here"
		continue
	}
	case $machine in
	aarch64 | s390x) compare $machine "$lib/libc.so.6" 1 ;;
	*) compare $machine "$lib/libc.so.6" 0 ;;
	esac
	[ $machine = riscv64 ] || compare $machine "$lib/libm.so.6" 0
done

compare_debian aarch64 arm64 0

# A row that is off by one has to be noticed on each.
for machine in aarch64 powerpc64le riscv64 s390x; do
	file=/usr/$machine-linux-gnu/lib/libc.so.6
	[ -f "$file" ] || continue
	convert "$file" --trial-abi
	wrong_row_is_noticed "$machine: a wrong row is noticed" "$file"
done
finish
