# SPDX-License-Identifier: MIT
# SPDX-FileCopyrightText: 2026 The sfjit authors
# shellcheck shell=sh disable=SC2034,SC2154
without=build/tests/jits/without
record llvm-jitlink "$mode" build/examples/llvm_jitlink build/tests/jits/llvm.bc \
	"$out/llvm-jitlink.$mode.truth" "$seconds"
