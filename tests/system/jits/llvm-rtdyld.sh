# SPDX-License-Identifier: MIT
# SPDX-FileCopyrightText: 2026 The sfjit authors
# shellcheck shell=sh disable=SC2034,SC2154
without=build/tests/system/jits/without
record llvm-rtdyld "$mode" build/examples/llvm_rtdyld build/tests/system/jits/llvm.bc \
	"$out/llvm-rtdyld.$mode.truth" "$seconds"
