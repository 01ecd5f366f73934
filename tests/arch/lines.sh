#!/bin/sh
# SPDX-License-Identifier: MIT
# SPDX-FileCopyrightText: 2026 The sfjit authors
#
# Description: a machine is at most 80 lines, besides its assembly, and the code
# that sfjit run knows: its directory, its entry in the table, and what runs its
# tests.

# shellcheck source=tests/lib/tap.sh
. "$(dirname "$0")/../lib/tap.sh"
# shellcheck source=tests/arch/entry.sh
. tests/arch/entry.sh

# lines NAME: of all that names it
lines() {
	for _file in context.h psabi.py slot.h; do
		cat "arch/$1/$_file"
	done
	entry_of "$entry"
	grep "\.sh $1\>" tests/list
	grep "gcc-$triple .*cross" tools/needs.mk
}

for found in arch/*/psabi.py; do
	machine=$(basename "$(dirname "$found")")
	eval "$(python3 -B tests/arch/machines.py "$machine")"
	lines "$machine" >"$tmp/lines"
	nr=$(wc -l <"$tmp/lines")
	works "$machine: $nr lines" [ "$nr" -gt 40 -a "$nr" -le 80 ]
done
finish
