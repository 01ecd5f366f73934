#!/bin/sh
# SPDX-License-Identifier: MIT
# SPDX-FileCopyrightText: 2026 The sfjit authors
#
# Description: user space is built in layers. Neither files nor directories
# include each other in a circle, objects call each other in none, and nothing
# above sframegen/ knows which machine this is. Code for one machine only is in
# its directory, and in the table of machines.

# shellcheck source=tests/lib/tap.sh
. "$(dirname "$0")/../lib/tap.sh"

# includes PART TREE: lines "A B", where A includes a header of B. PART says
# what A and B are: a pair of .c and .h, a directory, or the top of one.
includes() {
	(cd "$2" && find sframegen userspace -name '*.[ch]' | sort) >"$tmp/files"
	(cd "$2" && xargs grep -HE '^# *include' <"$tmp/files") |
		awk -v part="$1" -v files="$tmp/files" '
	function name(path)
	{
		if (part == "pair")
			sub(/\.[ch]$/, "", path)
		else
			sub(part == "directory" ? "/[^/]*$" : "/.*", "", path)
		return path
	}
	# Beside the file, or in a directory that the compiler is told.
	function find(from, header, i, at)
	{
		sub(/[^\/]*$/, "", from)
		if ((from header) in is)
			return from header
		for (i = 1; i <= nr; i++) {
			at = length(path[i]) - length(header)
			if (substr(path[i], at) == "/" header)
				return path[i]
		}
		return ""
	}
	BEGIN {
		while ((getline line <files) > 0) {
			path[++nr] = line
			is[line]
		}
	}
	split($0, word, /[<>"]/) > 2 {
		from = substr($0, 1, index($0, ":") - 1)
		to = find(from, word[2])
		if (to && name(from) != name(to))
			print name(from), name(to)
	}' | sort -u
}

# calls: lines "A B", where the object A needs a symbol of B. The module is linked
# with --wrap=prctl.
calls() {
	sed -n "s|\.c$|.o|; s|.*\.o$|$O/obj/&|p" "$tmp/files" |
		grep -v /examples/ | xargs nm -Ag |
		awk -v top="$O/obj/" '{
		object = substr($0, length(top) + 1)
		sub(/\.o:.*/, "", object)
		if ($(NF - 1) == "U")
			needs[object " " ($NF == "prctl" ? "__wrap_prctl" : $NF)]
		else
			has[$NF] = object
	} END {
		for (need in needs) {
			split(need, word, " ")
			if (word[2] in has && has[word[2]] != word[1])
				print word[1], has[word[2]]
		}
	}' | sort -u
}

# circle: what tsort finds in lines "A B"; nothing if there is none
circle() {
	tsort 2>&1 >/dev/null | sed -n 's/^tsort: //p' | tr '\n' ' '
}

# no_circle NAME FILE LEAST: of lines "A B", as many as LEAST
no_circle() {
	if [ "$(wc -l <"$2")" -lt "$3" ]; then
		not_ok "$1" "found only $(cat "$2")"
	else
		is "$1" "" "$(circle <"$2")"
	fi
}

for part in pair directory top; do
	includes $part "$top" >"$tmp/$part"
done
no_circle "files include each other in no circle" "$tmp/pair" 60
no_circle "directories include each other in no circle" "$tmp/directory" 6
no_circle "sframegen/ needs nothing of userspace/" "$tmp/top" 1
calls >"$tmp/calls"
no_circle "objects call each other in no circle" "$tmp/calls" 60

# What would be one.
mkdir "$tmp/copy"
cp -R sframegen userspace "$tmp/copy"
echo '#include "modules.h"' >>"$tmp/copy/userspace/preload/table.h"
like "a circle of files is found" "*preload/modules*" \
	"$(includes pair "$tmp/copy" | circle)"
echo '#include <sfjit.h>' >>"$tmp/copy/sframegen/include/sfjit/rows.h"
like "a circle of directories is found" "*userspace/include*" \
	"$(includes directory "$tmp/copy" | circle)"
like "a circle of the two is found" "*sframegen*" \
	"$(includes top "$tmp/copy" | circle)"
like "a circle of objects is found" "*sframegen/lib/packed_read*" \
	"$({ cat "$tmp/calls"; echo sframegen/lib/packed_read userspace/preload/table
	} | circle)"

# <sframegen.h> says what this is compiled for, and what an ELF file is for.
names='__(x86_64|amd64|i386|aarch64|AARCH64E[BL]|s390x|ehdr_start)|EM_[A-Z]'
names="$names|SFRAME_ABI_[A-Z]"
machine() {
	(cd "$1" && grep -rnE "$names" userspace)
}
is "nothing in userspace/ names a machine" "" "$(machine "$top")"
echo 'int abi = SFRAME_ABI_AMD64_LE;' >>"$tmp/copy/userspace/sfjit/ps.c"
like "a machine is found" "*ps.c*AMD64*" "$(machine "$tmp/copy")"

names='__(x86_64|amd64|i386|aarch64|AARCH64E|s390|riscv|powerpc)|defined.*_ARCH_'
conditions() {
	(cd "$1" && grep -rnE "^# *(el|if).*($names)" sframegen userspace tests \
		bench --include='*.[chS]' | grep -v ^sframegen/lib/machines.c)
}
is "no code is for one machine only" "" "$(conditions "$top")"
mkdir "$tmp/copy/tests" "$tmp/copy/bench"
echo '#ifdef __riscv' >"$tmp/copy/tests/a.c"
like "a condition is found" "*tests/a.c:1:*" "$(conditions "$tmp/copy")"
finish
