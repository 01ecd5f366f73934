#!/bin/sh
# SPDX-License-Identifier: MIT
# SPDX-FileCopyrightText: 2026 The sfjit authors
#
# Every input of every corpus, and 60 s of each target: see
# tests/fuzz/run-targets.

cd "$(dirname "$0")/../.." || exit 1
for tool in clang llvm-cov llvm-profdata; do
	command -v $tool >/dev/null || {
		echo "skip - fuzz: no $tool here"
		exit 77
	}
done
tests/fuzz/build fuzz-programs || exit 1
exec make -s fuzz TIME="${SFJIT_FUZZ_SECONDS:-60}"
