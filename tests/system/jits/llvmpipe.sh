# SPDX-License-Identifier: MIT
# SPDX-FileCopyrightText: 2026 The sfjit authors
# shellcheck shell=sh disable=SC2154
record llvmpipe "$mode" build/tests/system/jits/llvmpipe \
	"$out/llvmpipe.$mode.truth" "$seconds"
grep -q llvmpipe "$base.log" || failed "Mesa's software renderer"
