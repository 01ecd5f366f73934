#!/bin/sh
# SPDX-License-Identifier: MIT
# SPDX-FileCopyrightText: 2026 The sfjit authors
#
# usage: tests/system/jits/jits.sh IMAGE [NAME...]
#
# As many stacks of these programs, or all of this image, are exact as `least'
# says, without sfjit none or few, and no more are silently wrong.  The program
# `broken' is recorded first, and fails; the others are recorded all the same.

# shellcheck source=tests/lib/tap.sh
. "$(dirname "$0")/../../lib/tap.sh"
image=$1
shift
# shellcheck disable=SC2046 # words
[ $# != 0 ] || set -- $(tools/jits.d/image --programs "$image")

status=0
JITS_SECONDS=${JITS_SECONDS:-3} tools/jits.d/run "$tmp" "$image" broken "$@" \
	2>"$tmp/stderr" || status=$?
cat "$tmp/stderr" >&2
is "a program that fails: the status" 1 $status
like "a program that fails: it is named" \
	"*jits: recording broken failed: see */jits-$image.log*" \
	"$(cat "$tmp/stderr")"
also python3 -B tests/system/jits/check.py "$tmp/result.json" tests/system/jits/least "$@"
finish
