#!/bin/sh
# SPDX-License-Identifier: MIT
# SPDX-FileCopyrightText: 2026 The sfjit authors
#
# The kernel's decoder for s390x, built for s390x, under qemu-user: the inputs of
# each target with their numbers in its byte order, and mutations of them that are
# the same each time. tests/kernel/fuzz/machines.sh has its rules in the byte order of
# this machine.

# shellcheck source=tests/lib/tap.sh
. "$(dirname "$0")/../../lib/tap.sh"
# shellcheck source=tests/kernel/fuzz/judge.sh
. tests/kernel/fuzz/judge.sh
command -v qemu-s390x >/dev/null || skip_all "qemu-s390x is not installed"
tools/make -s fuzz-big-endian || finish
mutations=${SFJIT_FUZZ_MUTATIONS:-50000}

# replay NAME [ARGUMENT...]
replay() {
	_program=$1
	shift
	judge "$_program" qemu-s390x -L /usr/s390x-linux-gnu \
		"$O/tests/kernel/fuzz-s390x/$_program" "$@"
}

replay kernel-packed
if tools/make -s build/bin/sframegen &&
	"$O/bin/sframegen" --elf /usr/s390x-linux-gnu/lib/libc.so.6 \
		--format packed -o "$tmp/table" >/dev/null; then
	replay kernel-rules -n 100000 "$tmp/table"
else
	not_ok "a packed table of the C library" ""
fi
for target in kernel-step kernel-walk kernel-register; do
	replay "$target-replay" -n "$mutations" \
		"$O/tests/kernel/fuzz/corpus-big-endian/$target"
done
finish
