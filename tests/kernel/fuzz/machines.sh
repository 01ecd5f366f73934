#!/bin/sh
# SPDX-License-Identifier: MIT
# SPDX-FileCopyrightText: 2026 The sfjit authors
#
# The kernel's decoder with the rules of AArch64 and s390x, in the byte order of
# this machine: the inputs of each target and mutations of them that are the same
# each time, then libFuzzer.

# shellcheck source=tests/lib/tap.sh
. "$(dirname "$0")/../../lib/tap.sh"
# shellcheck source=tests/kernel/fuzz/judge.sh
. tests/kernel/fuzz/judge.sh
command -v clang >/dev/null || skip_all "no clang here"
tools/make -s fuzz-machines || finish
amount=${SFJIT_FUZZ_SECONDS:-4x}
mkdir -p "$O/fuzz"

library=/usr/aarch64-linux-gnu/lib/libc.so.6
if [ -f $library ] && tools/make -s build/bin/sframegen &&
	"$O/bin/sframegen" --elf $library --format packed -o "$tmp/table" \
		>/dev/null; then
	judge "rules of a packed table of arm64" \
		"$O/tests/kernel/fuzz-arm64/kernel-rules" "$tmp/table"
else
	skip "rules of a packed table of arm64" "its C library is not installed"
fi
for machine in arm64 s390; do
	judge "kernel-packed of $machine" \
		"$O/tests/kernel/fuzz-$machine/kernel-packed"
	for target in kernel-step kernel-walk kernel-register; do
		program=$O/tests/kernel/fuzz-$machine/$target
		corpus=$O/tests/kernel/fuzz/corpus/$target
		judge "$target of $machine, replayed" \
			"$program-replay" -n 20000 "$corpus"
		judge "$target of $machine, fuzzed" \
			tests/kernel/fuzz/libfuzzer "$program" "$target" "$amount" \
			"$O/fuzz/$target-$machine" "$tmp/$machine-$target"
	done
done
finish
