# SPDX-License-Identifier: MIT
# SPDX-FileCopyrightText: 2026 The sfjit authors
# shellcheck shell=sh disable=SC2034,SC2154
#
# For the tests of sfjit doctor; source it after tests/preload/lib.sh.

filter=$run/filter

# finding NAME: prints a finding of the last examination, without column spaces.
finding() {
	awk -v name="$1" '
		/^[a-z]/ { found = $2 == name }
		found { $1 = $1; print }' "$tmp/doctor"
}

# examine [COMMAND...]: runs sfjit doctor through the command
examine() {
	status=0
	"$@" "$sfjit" doctor >"$tmp/doctor" 2>&1 || status=$?
}

# finds NAME FINDING STATUS WANT [COMMAND...]: compares a finding of sfjit
# doctor, run through the command; STATUS is a pattern. No line may be too long
# for a terminal, except for paths.
finds() {
	name=$1 of=$2 want=$3 text=$4
	shift 4
	examine "$@"
	is "$name: finding" "$text" "$(finding "$of")"
	like "$name: status" "$want" "$status"
	is "$name: width" "" "$(awk 'length > 80 && !/\//' "$tmp/doctor")"
}

# words FILE: prints findings without column spaces and variable parts
words() {
	sed 's/^  *//; s/   */ /g; s/^\([a-z]*\)  */\1 /
		s/room for [0-9]* MiB/room/' "$1"
}

# says_the_same NAME STATUS [COMMAND...]: JSON output agrees with the last
# examination
says_the_same() {
	name=$1 want=$2
	shift 2
	"$@" "$sfjit" doctor --json >"$tmp/json"
	is "$name: status" "$want" $?
	python3 - "$tmp/json" >"$tmp/text" <<'END'
import json, sys
for finding in json.load(open(sys.argv[1])):
    assert list(finding) == ['name', 'state', 'fact', 'meaning', 'remedy']
    print(finding['state'], finding['name'], finding['fact'])
    if finding['meaning'] is not None:
        print(finding['meaning'])
        print('fix:', finding['remedy'])
END
	words "$tmp/doctor" >"$tmp/words"
	words "$tmp/text" >"$tmp/text.words"
	same "$name: says the same" "$tmp/words" "$tmp/text.words"
}
