# SPDX-License-Identifier: MIT
# SPDX-FileCopyrightText: 2026 The sfjit authors
# shellcheck shell=sh disable=SC2034,SC2154
# Java with its default flags.

# At its end the agent writes a line to its log, and must not wait if that is a FIFO
# without a reader. This run also makes the tables and reads the agent into memory: a
# method has no rows until the VM has reported it, and reading pages delays the report.
if [ "$mode" = fp ]; then
	mkfifo /tmp/unread
	timeout -s KILL 600 "$sfjit" run --java --log=/tmp/unread -- java -version \
		>/dev/null 2>&1 || die "java with a FIFO as its log: status $?"
	rm /tmp/unread
fi

options=--java
record hotspot "$mode" java -cp build/tests/system/jits/hotspot Graph \
	"$out/hotspot.$mode.truth" "$seconds"
options=
