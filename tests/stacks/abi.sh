#!/bin/sh
# SPDX-License-Identifier: MIT
# SPDX-FileCopyrightText: 2026 The sfjit authors
#
# Description: header, version map and libraries of libsfjit-stacks name the same
# functions; the header is clean C and C++; what is installed can be linked.

# shellcheck source=tests/lib/tap.sh
. "$(dirname "$0")/../lib/tap.sh"
header=userspace/include/sfjit-stacks.h

echo '#include <sfjit-stacks.h>' >"$tmp/use.h"
compiles() {
	works "$@" -Iuserspace/include -Isframegen/include -Wall -Wextra \
		-Werror -pedantic -fsyntax-only "$tmp/use.h"
}
compiles "the header is C99" gcc -xc-header -std=c99
compiles "the header is C23" gcc -xc-header -std=c2x
for std in 11 20; do
	compiles "the header is C++$std" g++ -xc++-header -std=c++$std
done

gcc -Iuserspace/include -Isframegen/include -x c -aux-info "$tmp/aux" \
	-fsyntax-only - <"$tmp/use.h"
sed -n "s|.*sfjit-stacks\.h:.* \**\(sfjit_[a-z_]*\) (.*|\1|p" "$tmp/aux" |
	sort >"$tmp/header"
sed -n 's/^\t\(sfjit_[a-z_]*\);$/\1/p' userspace/stacks/libsfjit-stacks.map |
	sort >"$tmp/map"
nm -D --defined-only "$O/lib/libsfjit-stacks.so" | awk '$2 != "A" {
	sub("@@LIBSFJIT_STACKS_0$", "", $3); print $3 }' | sort >"$tmp/so"
nm -g --defined-only "$O/lib/libsfjit-stacks.a" |
	awk 'NF == 3 { print $3 }' | sort >"$tmp/a"
is "functions of the header" 20 "$(wc -l <"$tmp/header")"
same "the version map has what the header has" "$tmp/header" "$tmp/map"
same "the shared library, too" "$tmp/header" "$tmp/so"
same "the static library, too" "$tmp/header" "$tmp/a"
tr -cs 'a-z_' '\n' <Documentation/man/libsfjit-stacks.7 |
	grep '^sfjit_stacks_' | sort -u >"$tmp/man"
same "the manual page names them" "$tmp/header" "$tmp/man"
while read -r name; do
	grep -q "^ \* $name - \|^/\*\* $name - " $header && continue
	not_ok "$name has a comment" "none begins with its name"
done <"$tmp/header"
is "soname" libsfjit-stacks.so.0 "$(readelf -d "$O/lib/libsfjit-stacks.so" |
	sed -n 's/.*SONAME.*\[\(.*\)\]/\1/p')"
is "it needs libelf and libc alone" "libc.so.6 libelf.so.1" \
	"$(readelf -d "$O/lib/libsfjit-stacks.so" |
		sed -n 's/.*NEEDED.*\[\(.*\)\]/\1/p' | grep -v ^ld- | sort |
		tr '\n' ' ' | sed 's/ $//')"

# Or two plugins with it would call each other's copy.
echo 'int plugin(void) { return 0; }' | gcc -shared -fPIC -x c - -x none -lelf \
	-Wl,--whole-archive "$O/lib/libsfjit-stacks.a" -Wl,--no-whole-archive \
	-o "$tmp/plugin.so"
is "a plugin with the static library exports its own functions alone" plugin \
	"$(nm -D --defined-only "$tmp/plugin.so" | cut -d ' ' -f 3)"

works "make install-libsfjit-stacks" tools/make -s PREFIX=/opt/sf \
	LIBDIR=/opt/sf/lib DESTDIR="$tmp/root" install-libsfjit-stacks
root=$tmp/root/opt/sf
works "its manual page is installed" \
	test -s "$root/share/man/man7/libsfjit-stacks.7"
if ! command -v pkg-config >/dev/null; then
	skip "pkg-config" "not installed"
	finish
fi
flags() {
	PKG_CONFIG_PATH=$root/lib/pkgconfig PKG_CONFIG_SYSROOT_DIR=$tmp/root \
		pkg-config "$@" libsfjit-stacks
}
cp userspace/examples/profiler.c "$tmp/use.c"
# shellcheck disable=SC2046
works "a program with the shared library" gcc -o "$tmp/shared" "$tmp/use.c" \
	$(flags --cflags --libs)
# shellcheck disable=SC2046
works "a program with the static library" gcc -o "$tmp/static" "$tmp/use.c" \
	$(flags --cflags) "$root/lib/libsfjit-stacks.a" -lelf

# C++ has one name for a type and a function: the function hides the type.
sed -n 's/^\(struct\|enum\) \([a-z_]*\) {$/\2/p' "$root/include/sfjit-stacks.h" |
	sort -u >"$tmp/types"
is "no type has the name of a function" "" \
	"$(comm -12 "$tmp/types" "$tmp/header")"
{
	echo '#include <sfjit-stacks.h>'
	sed 's/.*/static & *a_&;/' "$tmp/types"
	cat <<'END'

static bool open_tracker(sfjit_stacks **stacks)
{
	sfjit_stacks_options options = { };

	options.live = true;
	return !sfjit_stacks_begin(&options, stacks);
}

int main()
{
	sfjit_stacks_reason end = SFJIT_STACKS_OUTERMOST;
	sfjit_stacks *stacks;

	if (!open_tracker(&stacks) || sfjit_stacks_running(stacks, 0, 1))
		return 1;
	end = sfjit_stacks_look(stacks, 1, 1, 0);
	sfjit_stacks_end(stacks);
	return !sfjit_stacks_end_text(end);
}
END
} >"$tmp/use.cc"
# shellcheck disable=SC2046
works "a program in C++, with each type" g++ -Wall -Wno-unused-variable \
	-Werror -o "$tmp/shared-c++" "$tmp/use.cc" $(flags --cflags --libs)
works "which runs" env LD_LIBRARY_PATH="$root/lib" "$tmp/shared-c++"
is "the program with the static library runs" "usage: profiler [-a] COMMAND [ARGUMENT...]" \
	"$("$tmp/static" 2>&1)"
finish
