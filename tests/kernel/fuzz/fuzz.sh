#!/bin/sh
# SPDX-License-Identifier: MIT
# SPDX-FileCopyrightText: 2026 The sfjit authors
#
# usage: tests/kernel/fuzz/fuzz.sh [SECONDS]
#
# Runs every input of every corpus, and each target for 30 s: see
# tests/kernel/fuzz/run-targets.

# shellcheck source=tests/lib/tap.sh
. "$(dirname "$0")/../../lib/tap.sh"
for tool in clang llvm-cov llvm-profdata; do
	command -v $tool >/dev/null || skip_all "no $tool here"
done
tools/make -s fuzz-programs || finish
also make -s fuzz TIME="${SFJIT_FUZZ_SECONDS:-${1:-30}}"
finish
