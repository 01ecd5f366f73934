# SPDX-License-Identifier: MIT
# SPDX-FileCopyrightText: 2026 The sfjit authors
# shellcheck shell=sh disable=SC2034,SC2154
# Java with its default flags.
options=--java
record hotspot "$mode" java -cp build/tests/system/jits/hotspot Graph \
	"$out/hotspot.$mode.truth" "$seconds"
options=
