#!/bin/sh
# SPDX-License-Identifier: MIT
# SPDX-FileCopyrightText: 2026 The sfjit authors
#
# Description: at each instruction that threads of Java were seen to execute, the
# row gives the caller that was seen to call, or there is none.

# shellcheck source=tests/lib/tap.sh
. "$(dirname "$0")/../../lib/tap.sh"
# shellcheck source=tests/preload/lib.sh
. "$top/tests/preload/lib.sh"

classes=$(realpath "$O/tests/system/jits/hotspot")
command -v java >/dev/null || {
	skip "java" "no Java here"
	finish
}

# stepped NAME JAVA-ARGUMENT...
stepped() {
	name=$1
	shift
	"$O/tests/runtimes/hotspot/programs/step" "$(realpath "$O/tests/runtimes/hotspot/programs/record.so")" 0.3 \
		8 30000 java \
		"-agentpath:$(realpath "$O/lib/sfjit/libsfjit-hotspot.so")" \
		-Djava.library.path="$classes" -cp "$classes" "$@" \
		>"$tmp/out" 2>&1
	is "$name: wrong rows" "" "$(grep '^wrong ' "$tmp/out")"
	like "$name: right rows" "steps [1-9]*: right [1-9][0-9]*, wrong 0,*" \
		"$(tail -n 1 "$tmp/out")"
}

stepped "default flags" Graph "$tmp/truth" 1000
stepped "interpreter" -Xint Graph "$tmp/truth" 1000
stepped "C1" -XX:TieredStopAtLevel=1 Graph "$tmp/truth" 1000
stepped "C2, one heap" -XX:-TieredCompilation -XX:-SegmentedCodeCache Graph \
	"$tmp/truth" 1000
stepped "classes that are unloaded" Churn 1000
stepped "calls by C" Changes "$tmp/truth" 1000 upcall
stepped "code that the VM changes" -XX:CompileThresholdScaling=0.2 Changes \
	"$tmp/truth" 1000 loop deopt upcall unload
finish
