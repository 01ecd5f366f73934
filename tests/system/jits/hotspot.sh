# SPDX-License-Identifier: MIT
# SPDX-FileCopyrightText: 2026 The sfjit authors
# shellcheck shell=sh disable=SC2034,SC2154
# Java with its default flags.

# The agent has a last line to write: a FIFO that nobody reads does not stop it. This
# also makes the tables and brings the agent into memory: a method runs without rows
# until the VM has reported it, which is later while pages are read.
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
