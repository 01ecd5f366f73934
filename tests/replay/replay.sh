#!/bin/sh
# SPDX-License-Identifier: MIT
# SPDX-FileCopyrightText: 2026 The sfjit authors
#
# The walk of each sample of real programs still has the kernel's chain, and
# one that differs is found.

set -eu
# shellcheck source=tests/lib/case.sh
. "$(dirname "$0")/../lib/case.sh"

tools/make -s build/tests/fuzz/replay-stacks
replay=$O/tests/fuzz/replay-stacks
also "$replay" tests/replay/corpus/*.stacks

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

# found NAME EDIT WHY: what replay-stacks says
found() {
	one | sed "$2" >"$tmp/edited"
	is "$1" "$3" "$("$replay" "$tmp/edited" 2>&1 | sed "s|$tmp/||; q")"
}

other='not ok - one: 1 of 1 samples have another chain, first: at 7f0000001001,'
found "as it is" "" "ok - one"
found "another caller" 's/g9000/&=g1011/' "$other frame 1 of 3, not 3"
found "a frame less" 's/ g9010//' "$other frame 2 of 3, not 2"
found "a frame more" 's/f 0 .*/& g9020=0 g9028=401008/; s/^s.*0$/s g8ff8 g9020/' \
	"$other frame 3 of 3, not 4"
found "deferred" 's/^s/d/' "ok - one"
found "deferred, another caller" 's/^s/d/; s/g9000/&=g1011/' \
	"$other frame 1 of 3, not 3"
found "no section" 's/e2de/e2df/' "edited:3: the window is refused"
found "half a section" "s/$row//" "edited:3: the window is refused"
found "no registers" 's/ g8ff8 0//' "edited:7: a word is missing"
found "no number" 's/401000/40100z/' "edited:4: not a number"
found "no line" 's/^s/t/' "edited:7: an unknown line"
finish
