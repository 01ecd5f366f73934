# SPDX-License-Identifier: MIT
# SPDX-FileCopyrightText: 2026 The sfjit authors
# shellcheck shell=sh
#
# Sourced: the table of machines.

table=sframegen/lib/machines.c

# parts NAME 1: the entry of this name; 0: all else
parts() {
	awk -v machine="[.]name = \"$1\"," -v wanted="$2" '
	function end(found) {
		if (found == wanted)
			printf "%s", text
		text = ""
	}
	{ text = text $0 "\n" }
	/sfg_arches\[\] = {$/ || /^\t},$/ { end(text ~ machine) }
	END { end(0) }' "$table"
}

entry_of() { parts "$1" 1; }
rest_of() { parts "$1" 0; }
