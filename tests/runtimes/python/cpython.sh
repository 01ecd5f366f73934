#!/bin/sh
# SPDX-License-Identifier: MIT
# SPDX-FileCopyrightText: 2026 The sfjit authors
#
# Description: tests/runtimes/python/rows.py, of Debian 13's CPython for the machine that
# is named.

# shellcheck source=tests/lib/tap.sh
. "$(dirname "$0")/../../lib/tap.sh"
machine=$1
case $machine in
x86_64) flags=-fcf-protection abi=SFRAME_ABI_AMD64_LE ;;
aarch64) flags=-mbranch-protection=none abi=SFRAME_ABI_AARCH64_LE ;;
esac
from=$(tools/cpython) || exit 1
command -v "qemu-$machine" >/dev/null ||
	skip_all "qemu-$machine is not installed"

# python ARGUMENT...: with the libraries of its own system
python() {
	_lib=$from/$machine/usr/lib/$machine-linux-gnu
	PYTHONHOME=$from/$machine/usr "qemu-$machine" "$_lib"/ld-linux-*.so.* \
		--library-path "$_lib" "$from/$machine/usr/bin/python3.13" "$@"
}

# Its jitdump is of this process, which is the only one of qemu-user.
dump() {
	python -I -S -X perf_jit -c 'import os; print(os.getpid())' >"$tmp/pid" &&
		mv "/tmp/jit-$(cat "$tmp/pid").dump" "$tmp/dump"
}

assemble() {
	"$machine-linux-gnu-gcc" "$flags" -c -o "$tmp/$1.o" "$tmp/$1.S"
}

template() {
	"$O/bin/sframegen" --template "$tmp/$1.o" -o "$tmp/template.h"
}

cfi() {
	gcc -std=gnu11 -Wall -Werror -Isframegen/include -DABI="$abi" \
		-include sframegen/include/sfjit/rows.h \
		-include "$tmp/template.h" -o "$tmp/cfi" tests/runtimes/python/cfi.c \
		"$O/lib/libsframegen.a" && "$tmp/cfi" "$tmp/eh_frame" "$tmp/code"
}

cp "$from/asm_trampoline.S" "$tmp/plain.S"
awk -f tests/runtimes/python/annotate.awk "$tmp/plain.S" >"$tmp/with.S"
assemble plain
is "the source has no call frame information" \
	"sframegen: $tmp/plain.o: 0x0: no call frame information" \
	"$(template plain 2>&1)"
works "with it" assemble with
works "a template of the source" template with
works "its .eh_frame" cfi
works "a program that calls it" "$machine-linux-gnu-gcc" -O2 -static \
	-o "$tmp/call" tests/runtimes/python/call.c
works "a jitdump of python3.13" dump
also env PYTHONPATH=tests/lib:tests/arch python3 -B tests/runtimes/python/rows.py \
	"$machine" "$tmp/dump" "$tmp/code" "$tmp/eh_frame" "$tmp/call" \
	Documentation/cpython.rst
finish
