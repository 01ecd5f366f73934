#!/bin/sh
# SPDX-License-Identifier: MIT
# SPDX-FileCopyrightText: 2026 The sfjit authors
#
# Description: only the converter that made a cached table uses it. The tag that
# identifies converters depends on each of their files, and on flags.

# shellcheck source=tests/lib/tap.sh
. "$(dirname "$0")/../lib/tap.sh"
# shellcheck source=tests/preload/lib.sh
. "$top/tests/preload/lib.sh"

tree=$tmp/tree
mkdir "$tree"
cp -R --parents Makefile arch sframegen userspace "$tree"

# All files that the compiler reads for the converter and for its input.
files=$(gcc -MM -Isframegen/include -Iuserspace/include -Iarch -Iarch/x86_64 \
	sframegen/lib/*.c arch/bare.c arch/x86_64/flow/bare.c arch/x86_64/flow/framed.c \
	userspace/preload/make_table.c userspace/preload/image.c \
	userspace/preload/cfi.c userspace/preload/amend.c \
	userspace/preload/table.c userspace/preload/arena.c | tr -cs 'a-z0-9_.:/' '\n' | grep -v ':$' | sort -u)
others='README userspace/preload/report.c userspace/preload/modules.c
	userspace/sfjit/run.c userspace/libsfjit/area.c sframegen/cmd/main.c'

# make does not notice changes in the same clock tick.
age() {
	find "$tree" -type f ! -path '*/build/*' -exec touch -d '2 hours ago' {} +
	find "$tree/build" -type f -exec touch -d '1 hour ago' {} +
}

# tag VARIABLE...: prints the tag, made with these variables in the copy
tag() {
	make -s -C "$tree" O=build "$@" build/gen/cache-tag.h >/dev/null 2>"$tmp/err" &&
		cat "$tree/build/gen/cache-tag.h"
}

# Replace objects by preprocessor output, which takes a tenth of the time.
text_tag() {
	tag CC='gcc -E' && age
}

# changes NAME: the tag differs from before
changes() {
	new=$(text_tag)
	if [ -n "$new" ] && [ "$new" != "$old" ]; then
		ok "$1"
	else
		not_ok "$1" "tag '$new', before '$old'; $(head -n 3 "$tmp/err")"
	fi
	old=$new
}

old=$(text_tag)
like "there is a tag" "#define SFJIT_CACHE_TAG [0-9]*U" "$old"
like "the list has headers of all places" \
	"*sframegen/include/sfjit/rows.h*sframegen/lib/arch.c*preload/image.h*" \
	"$files"
for file in $files userspace/preload/cache.c; do
	echo 'extern int changed;' >>"$tree/$file"
	changes "$file is in the tag"
done
for file in $others; do
	echo 'extern int changed;' >>"$tree/$file"
	is "$file is not" "$old" "$(text_tag)"
done
echo 'extern int added;' >"$tree/sframegen/lib/added.c"
changes "a new file of the converter is in the tag"

# Flags are part of the objects.
cp -R --parents arch sframegen userspace "$tree"
rm "$tree/sframegen/lib/added.c"
for flags in -O0 -O1; do
	rm -rf "$tree/build"
	tag CFLAGS=$flags >"$tmp/tag$flags"
done
if [ -s "$tmp/tag-O0" ] && ! cmp -s "$tmp/tag-O0" "$tmp/tag-O1"; then
	ok "flags are in the tag"
else
	not_ok "flags are in the tag" "$(cat "$tmp/tag-O0" "$tmp/err")"
fi

# The same module, but for the tag.
other=$tmp/other
mkdir "$other"
(cd "$O" && cp -a --parents bin/sfjit gen lib/libsframegen.a \
	obj/sframegen/lib obj/userspace/preload \
	obj/userspace/libsfjit/node.o lib/sfjit/libsfjit-preload.so "$other")
echo '#define SFJIT_CACHE_TAG 1U' >"$other/gen/cache-tag.h"
if ! make -s O="$other" "$other/lib/sfjit/libsfjit-preload.so" 2>"$tmp/err"; then
	not_ok "another module" "$(head -n 3 "$tmp/err")"
	finish
fi

# source_is NAME WANT: the source of the table of 'hello' in this run.
source_is() {
	register "$run/hello" >/dev/null
	is "$1" "$2" "$(logged /hello | sed 's/.*source=\([a-z]*\).*/\1/')"
}

source_is "first run" converted
source_is "second run" cache
sfjit=$other/bin/sfjit
source_is "another converter does not take the table" converted
source_is "but its own" cache
sfjit=$O/bin/sfjit
source_is "nor does the first take that" converted
source_is "and has its own again" cache
finish
