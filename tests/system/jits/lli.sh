# SPDX-License-Identifier: MIT
# SPDX-FileCopyrightText: 2026 The sfjit authors
# shellcheck shell=sh disable=SC2154
record lli "$mode" lli-19 build/tests/system/jits/lli.bc "$out/lli.$mode.truth" \
	"$seconds"
