#!/bin/sh
# SPDX-License-Identifier: MIT
# SPDX-FileCopyrightText: 2026 The sfjit authors
#
# Description: manual pages that are generated say what the headers say; no page
# has formatting errors, and what pages refer to exists.

# shellcheck source=tests/lib/tap.sh
. "$(dirname "$0")/../lib/tap.sh"
# shellcheck source=tools/kernel-source.sh
. "$top/tools/kernel-source.sh"
tree=${KERNEL_SRC:-${XDG_CACHE_HOME:-$HOME/.cache}/sfjit/linux-apt-$series_version/linux}
pages="PR_*.2 sfjit_*.3 *.3type sfjit*.7 lib*.7"

# check NAME OUTPUT: good when there is none
check() {
	is "$1" "" "$(echo "$2" | head -n 3)"
}

# differences: of the pages here and those that are made anew, by their mark
differences() {
	rm -rf "$tmp/made" "$tmp/here"
	mkdir "$tmp/made" "$tmp/here"
	tools/man "$tree" "$tmp/made" 2>&1
	grep -rl ' by make man\. Do not edit\.$' Documentation/man |
		xargs cp -t "$tmp/here"
	diff -r "$tmp/here" "$tmp/made"
}

# refuses NAME PATTERN SED: what tools/man says of headers changed by SED
refuses() {
	rm -rf "$tmp/top"
	mkdir "$tmp/top" "$tmp/top/debian"
	cp -R --parents tools/man debian/changelog userspace/include \
		sframegen/include "$tmp/top"
	sed -i "$3" "$tmp/top/userspace/include/sfjit/area.h"
	like "$1" "$2" "$("$tmp/top/tools/man" "$tree" "$tmp/made" 2>&1)"
}

if [ -x "$tree/tools/docs/kernel-doc" ]; then
	check "make man changes nothing" "$(differences)"
	refuses "an argument without words is refused" \
		"*'rules' not described in 'sfjit_area_create'*" '/^ \* @rules:/d'
	refuses "a line that begins with a number is refused" \
		"*area.h>*sfjit_area_create*begins with a number*" \
		's/^ \* The whole area must be mapped/ * 1. &/'
else
	skip "make man changes nothing" "no source of the kernel here"
fi

cd Documentation/man || exit 1
# shellcheck disable=SC2086 # a list
if command -v man >/dev/null; then
	check "man has nothing to warn of" "$(MANROFFSEQ='' MANWIDTH=80 \
		LC_ALL=C.UTF-8 man --warnings -E UTF-8 -Tutf8 -Z -l $pages \
		2>&1 >/dev/null)"
else
	skip man "not installed"
fi

# shellcheck disable=SC2086 # a list
if command -v mandoc >/dev/null; then
	check "mandoc has nothing to warn of" \
		"$(mandoc -Tlint -W warning $pages)"
else
	skip mandoc "not installed"
fi

# References to pages of this tree, by name and section, also in running text.
# shellcheck disable=SC2086 # a list
references() {
	_name='PR_SFRAME_[A-Z]*\|sfjit[a-z_]*\|libsfjit[-a-z]*\|libsframegen'
	grep -o "\(^\|[^-a-z_/]\)\($_name\)\( (\|(\)[1-9][a-z]*)" $pages |
		sed 's/:[^a-zA-Z]*/ /; s/ *(/./; s/)//'
}
references >"$tmp/references"
check "references: each page is there" "$(while read -r page name; do
	[ -e "$name" ] || [ "$name" = sfjit.1 ] || echo "$page: $name"
done <"$tmp/references")"
like "references: they are found" "sfjit*.3 sfjit*.3*" \
	"$(grep -m 1 'sfjit_row.3type$' "$tmp/references")"

for section in NAME SYNOPSIS DESCRIPTION "RETURN VALUE" ERRORS NOTES \
	"SEE ALSO"; do
	check "section $section" "$(grep -L "^\.SH $section" PR_*.2)"
done
finish
