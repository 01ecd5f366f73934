#!/bin/sh
# SPDX-License-Identifier: MIT
# SPDX-FileCopyrightText: 2026 The sfjit authors
#
# Description: sframegen's steps by rows and libsfjit-stacks have the kernel's
# chain of each sample of real programs, and one that differs is found.

set -eu
# shellcheck source=tests/lib/tap.sh
. "$(dirname "$0")/../../lib/tap.sh"
# shellcheck source=tests/kernel/replay/one.sh
. "$top/tests/kernel/replay/one.sh"

replay=$O/tests/kernel/replay/steps
also "$replay" tests/kernel/replay/corpus/*.stacks

other='not ok - one, by rows: 1 of 1 samples have another chain, first: at'
found "as it is" "" "ok - one, by rows"
found "another caller" 's/g9000/&=g1011/' \
	"$other 7f0000001001, frame 1 of 3, not 3"
found "a frame less" 's/ g9010//' "$other 7f0000001001, frame 2 of 3, not 2"
found "a frame more" 's/f 0 .*/& g9020=0 g9028=401008/; s/^s.*0$/s g8ff8 g9020/' \
	"$other 7f0000001001, frame 3 of 3, not 4"
other='not ok - one, by the library: 1 of 1 samples have another chain'
found "as it is, by the library" "" "ok - one, by the library" 2
found "another caller, by the library" 's/g9000/&=g1011/' \
	"$other, first: at 7f0000001001, frame 1 of 3, not 3" 2
found "a frame less, by the library" 's/ g9010//' \
	"$other, first: at 7f0000001001, frame 2 of 3, not 2" 2
found "half a section" "s/$row//" "edited:3: the window is refused"
finish
