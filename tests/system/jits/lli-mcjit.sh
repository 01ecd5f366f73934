# SPDX-License-Identifier: MIT
# SPDX-FileCopyrightText: 2026 The sfjit authors
# shellcheck shell=sh disable=SC2154
record lli-mcjit "$mode" lli-19 --jit-kind=mcjit build/tests/system/jits/lli.bc "$out/lli-mcjit.$mode.truth" \
	"$seconds"
