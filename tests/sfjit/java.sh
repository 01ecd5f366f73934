#!/bin/sh
# SPDX-License-Identifier: MIT
# SPDX-FileCopyrightText: 2026 The sfjit authors
#
# Description: sfjit run --java adds the agent to JAVA_TOOL_OPTIONS, once, and
# keeps what is there; a program runs as without it.

# shellcheck source=tests/lib/tap.sh
. "$(dirname "$0")/../lib/tap.sh"
# shellcheck source=tests/preload/lib.sh
. "$top/tests/preload/lib.sh"

agent="'-agentpath:$(realpath "$O/lib/sfjit/libsfjit-hotspot.so")'"

# options WHAT RUN...: JAVA_TOOL_OPTIONS of a program
options() {
	unset JAVA_TOOL_OPTIONS
	[ -z "$1" ] || export JAVA_TOOL_OPTIONS="$1"
	shift
	# shellcheck disable=SC2016 # of the program
	"$@" sh -c 'echo "${JAVA_TOOL_OPTIONS-unset}"' 2>/dev/null
}

is "without --java" unset "$(options "" "$sfjit" run --)"
is "unset" "$agent" "$(options "" "$sfjit" run --java --)"
is "set" "-Xmx1g $agent" "$(options -Xmx1g "$sfjit" run -j --)"
is "there already" "$agent -Xmx1g" \
	"$(options "$agent -Xmx1g" "$sfjit" run -j --)"
is "twice" "$agent" "$(options "" "$sfjit" run -j -- "$sfjit" run -j --)"
is "without, inside" "$agent" "$(options "" "$sfjit" run -j -- "$sfjit" run --)"

unset JAVA_TOOL_OPTIONS
if command -v java >/dev/null; then
	java -XshowSettings:vm -version >"$tmp/out" 2>"$tmp/err"
	want=$?
	"$sfjit" run --java -- java -XshowSettings:vm -version \
		>"$tmp/out2" 2>"$tmp/err2"
	is "java: status" "$want" "$?"
	is "java: output" "$(cat "$tmp/out")" "$(cat "$tmp/out2")"
	is "java: messages" "$(cat "$tmp/err")" "$(sed \
		'/^Picked up JAVA_TOOL_OPTIONS: /d; /knows no SFrame windows/d' \
		"$tmp/err2")"
else
	skip "java" "no Java here"
fi
finish
