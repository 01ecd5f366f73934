#!/bin/sh
# SPDX-License-Identifier: MIT
# SPDX-FileCopyrightText: 2026 The sfjit authors
#
# usage: tests/kernel/fuzz/fuzz.sh AMOUNT PART...
#
# Runs every input of each corpus, and each target so often, of these parts of the
# targets: see tests/kernel/fuzz/fuzz.mk and libfuzzer.

# shellcheck source=tests/lib/tap.sh
. "$(dirname "$0")/../../lib/tap.sh"
for tool in clang llvm-cov llvm-profdata; do
	command -v $tool >/dev/null || skip_all "no $tool here"
done
amount=${SFJIT_FUZZ_SECONDS:-$1}
shift
tools/make -s fuzz-programs FUZZ_PARTS="$*" || finish
# Others may run side by side.
also make -s fuzz FUZZ_PARTS="$*" TIME="$amount" \
	FUZZ_FOUND="$O/fuzz/$(echo "$*" | tr ' ' -)"
finish
