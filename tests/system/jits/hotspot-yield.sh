# SPDX-License-Identifier: MIT
# SPDX-FileCopyrightText: 2026 The sfjit authors
# shellcheck shell=sh disable=SC2034,SC2154
# A virtual thread that is unmounted and mounted again and again.
options=--java
record hotspot-yield "$mode" java -Djava.library.path=build/tests/system/jits/hotspot \
	-cp build/tests/system/jits/hotspot Changes \
	"$out/hotspot-yield.$mode.truth" "$seconds" yield
options=
