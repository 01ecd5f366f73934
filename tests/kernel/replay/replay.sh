#!/bin/sh
# SPDX-License-Identifier: MIT
# SPDX-FileCopyrightText: 2026 The sfjit authors
#
# The walk of each sample of real programs still has the kernel's chain, and
# one that differs is found.

set -eu
# shellcheck source=tests/lib/tap.sh
. "$(dirname "$0")/../../lib/tap.sh"
# shellcheck source=tests/kernel/replay/one.sh
. "$top/tests/kernel/replay/one.sh"

tools/make -s build/tests/kernel/fuzz/replay-stacks
replay=$O/tests/kernel/fuzz/replay-stacks
also "$replay" tests/kernel/replay/corpus/*.stacks

other='not ok - one: 1 of 1 samples have another chain, first: at 7f0000001001,'
found "as it is" "" "ok - one"
found "as it is, by sections" "" "ok - one, by sections" 2
found "another caller" 's/g9000/&=g1011/' "$other frame 1 of 3, not 3"
found "a frame less" 's/ g9010//' "$other frame 2 of 3, not 2"
found "a frame less, by sections" 's/ g9010//' \
	"$(echo "$other" | sed 's/one/&, by sections/') frame 2 of 3, not 2" 2
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
