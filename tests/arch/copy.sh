#!/bin/sh
# SPDX-License-Identifier: MIT
# SPDX-FileCopyrightText: 2026 The sfjit authors
#
# Description: a machine is one directory and one entry in the table. In a copy of
# the tree both get another name, and are the only ones of the machine that is
# named: its libraries are built and pass its tests. What sfjit run knows of it is
# left out: that has tests of its own.

# shellcheck source=tests/lib/tap.sh
. "$(dirname "$0")/../lib/tap.sh"
# shellcheck source=tests/arch/machine.sh
. tests/arch/machine.sh
# shellcheck source=tests/arch/entry.sh
. tests/arch/entry.sh

name=newcpu
tree=$tmp/tree
mkdir -p "$tree/kernel-patches"
parts=$(ls -d Makefile arch bench sframegen userspace tests tools 2>/dev/null)
# shellcheck disable=SC2086 # words
cp -R $parts "$tree"
cp kernel-patches/series "$tree/kernel-patches"

# make_there TARGET...
make_there() {
	make -C "$tree" O=build "$@" >"$tmp/make" 2>&1 || {
		tail -20 "$tmp/make"
		return 1
	}
}

template() {
	"$tree/build/bin/sframegen" --template \
		"$arch/obj/arch/$machine/trampoline.o" -o "$tmp/template"
}

mv "$tree/arch/$machine" "$tree/arch/$name"
(cd "$tree/arch/$name" && rm -rf code.h event.S flow)
rest_of "$entry" >"$tree/$table"
works "without its entry" make_there build/bin/sframegen
like "its files are refused" "*trampoline.o: 0x12: *" "$(template 2>&1)"

entry_of "$entry" | sed "s/\.name = \"$entry\"/.name = \"$name\"/" >"$tmp/entry"
rest_of "$entry" | sed "/sfg_arches\[\] = {\$/r $tmp/entry" >"$tree/$table"
is "what differs" "Files $table and $tree/$table differ
Only in $tree/arch: $name
Only in arch: $machine" "$(for part in $parts; do
	diff -rq -x build -x __pycache__ "$part" "$tree/$part"
done | sort)"
works "with both" make_there build/bin/sframegen build/tests/arch/convert \
	"arch-programs-$name"
for of in convert step "units libsfjit sframegen"; do
	# shellcheck disable=SC2086 # words
	set -- $of
	test=$1
	shift
	also env O="$tree/build" "$tree/tests/arch/$test.sh" "$name" "$@"
done
finish
