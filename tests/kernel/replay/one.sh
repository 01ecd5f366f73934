# SPDX-License-Identifier: MIT
# SPDX-FileCopyrightText: 2026 The sfjit authors
# shellcheck shell=sh disable=SC2154
#
# Sourced after tests/lib/tap.sh by tests of what walks samples again, which
# is $replay.

# One sample of three frames, of which two are in a window: CFA = sp + 16.
one() {
	cat <<-END
	process one
	base g 7f0000000000
	window g1000 g1020 g4000 fixed $header$fde$row
	f 0 401000
	f 1 g1010 g9010
	f 2 g1001 g9000
	s g8ff8 0
	END
}
header=e2de03050300f8000100000001000000080000000000000010000000
fde=e4cfffffffffffff2000000000000000
row=0100000000000310

# found NAME EDIT WHY [NUMBER]: what it says of its first case or that one
found() {
	one | sed "$2" >"$tmp/edited"
	is "$1" "$3" "$("$replay" "$tmp/edited" 2>&1 | sed ":all; N; \$!b all
		s|$tmp/||g; s/\n# /: /g; s/ok [0-9]* - /ok - /g" |
		sed -n "${4:-1}p")"
}
