#!/bin/sh
# SPDX-License-Identifier: MIT
# SPDX-FileCopyrightText: 2026 The sfjit authors
#
# Description: the manual pages have no formatting errors, and what they refer
# to exists.

# shellcheck source=tests/lib/tap.sh
. "$(dirname "$0")/../lib/tap.sh"
cd Documentation/man || exit 1
pages="PR_*.2 sfjit_*.3 sfjit.7 libsframegen.7 libsfjit-stacks.7"

# check NAME OUTPUT: good when there is none
check() {
	is "$1" "" "$(echo "$2" | head -n 3)"
}

if command -v man >/dev/null; then
	for page in $pages; do
		check "man: $page" "$(MANROFFSEQ='' MANWIDTH=80 LC_ALL=C.UTF-8 \
			man --warnings -E UTF-8 -l -Tutf8 -Z "./$page" \
			2>&1 >/dev/null)"
	done
else
	skip man "not installed"
fi

if command -v mandoc >/dev/null; then
	for page in $pages; do
		check "mandoc: $page" "$(mandoc -Tlint -W warning "$page")"
	done
else
	skip mandoc "not installed"
fi

# References to pages of this tree, by name and section.
for page in $pages; do
	check "references: $page" "$(sed -n \
		's/^\.BR \(PR_SFRAME_[A-Z]*\|sfjit[a-z_]*\) (\([1-9]\)).*/\1.\2/p' \
		"$page" | while read -r name; do
			[ -e "$name" ] || [ "$name" = sfjit.1 ] || echo "$name"
		done)"
done

for section in NAME SYNOPSIS DESCRIPTION "RETURN VALUE" ERRORS NOTES \
	"SEE ALSO"; do
	check "section $section" \
		"$(grep -L "^\.SH $section" PR_*.2 sfjit_*.3)"
done
finish
