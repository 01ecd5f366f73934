# SPDX-License-Identifier: MIT
# SPDX-FileCopyrightText: 2026 The sfjit authors
# shellcheck shell=sh disable=SC2034,SC2154
# Java, compiling sooner, so that classes come and go while it is looked at. It
# says what the compilers do.
options=--java
record hotspot-changes "$mode" java -XX:CompileThresholdScaling=0.2 \
	-XX:+PrintCompilation -Djava.library.path=build/tests/system/jits/hotspot \
	-cp build/tests/system/jits/hotspot Changes \
	"$out/hotspot-changes.$mode.truth" "$seconds"
options=
# Its names, of memory that had several methods as well.
[ "$mode" = before ] ||
	cp "$(find /tmp -name 'perf-*.map' -newer "$base.cmd")" "$base.map"
# Code is given up when C2 (4) has better one, else since the class was loaded.
[ "$(awk '/Round::gTop/ {
	if (!/made not entrant/)
		better = $3 == 4
	else if (!better || $3 == 4)
		n++
} END { print n + 0 }' "$base.log")" -ge 3 ] ||
	die "$base: no class was loaded below the one that code was compiled for"
