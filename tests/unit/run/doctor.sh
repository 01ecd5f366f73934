# SPDX-License-Identifier: MIT
# SPDX-FileCopyrightText: 2026 The sfjit authors
# shellcheck shell=sh disable=SC2034,SC2154
#
# For the tests of sfjit doctor; sourced behind tests/unit/run/lib.sh.

filter=$run/filter

# finding NAME: one, without the spaces of columns; of the output of the command
# that was examined last.
finding() {
	awk -v name="$1" '
		/^[a-z]/ { found = $2 == name }
		found { $1 = $1; print }' "$tmp/doctor"
}

# examine [COMMAND...]: sfjit doctor, by the command
examine() {
	status=0
	"$@" "$sfjit" doctor >"$tmp/doctor" 2>&1 || status=$?
}

# finds NAME FINDING STATUS WANT [COMMAND...]: what the doctor says of it, run by
# the command; STATUS is a pattern. No line is too long for a terminal, but for
# paths.
finds() {
	name=$1 of=$2 want=$3 text=$4
	shift 4
	examine "$@"
	is "$name: finding" "$text" "$(finding "$of")"
	like "$name: status" "$want" "$status"
	is "$name: width" "" "$(awk 'length > 80 && !/\//' "$tmp/doctor")"
}
