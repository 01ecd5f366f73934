#!/bin/sh
# SPDX-License-Identifier: MIT
# SPDX-FileCopyrightText: 2026 The sfjit authors
#
# Description: headers, version map, libraries and manual pages of libsfjit
# name the same functions; each header is clean C and C++ by itself.

# shellcheck source=tests/lib/tap.sh
. "$(dirname "$0")/../lib/tap.sh"
headers="sfjit.h sfjit-assist.h $(cd userspace/include && echo sfjit/*.h)"

compiles() {
	works "$@" -Iuserspace/include -Isframegen/include -Wall -Wextra \
		-Werror -fsyntax-only "$tmp/use.h"
}

# In C++ a function hides a structure of its name: these have their own.
# shellcheck disable=SC2086 # a list
printf '#include <%s>\n' $headers >"$tmp/use.h"
cat >>"$tmp/use.h" <<'END'
#include <sframegen.h>
#ifdef __cplusplus
inline int look(const sfjit_area *area, const sfjit_pool *pool)
{
	sfjit_area_info window;
	sfjit_pool_info trampolines;

	return sfjit_area_stat(area, &window) ||
	       sfjit_pool_stat(pool, &trampolines);
}

inline uint64_t count(const sfjit_assist_stack *stack)
{
	struct sfjit_assist_stats counts;

	counts.size = sizeof(counts);
	return sfjit_assist_stats(&counts) ? stack->nr : counts.asked;
}
#endif
END

# The exported names, four times.
gcc -Iuserspace/include -Isframegen/include -x c -aux-info "$tmp/aux" \
	-fsyntax-only "$tmp/use.h"
sed -n "s|.* userspace/include/[^:]*:.* \**\(sfjit_[a-z_]*\) (.*|\1|p" "$tmp/aux" |
	sort >"$tmp/header"
sed -n 's/^\t\(sfjit_[a-z_]*\);$/\1/p' userspace/libsfjit/libsfjit.map |
	sort >"$tmp/map"
nm -D --defined-only "$O/lib/libsfjit.so" | awk '$2 != "A" {
	sub("@@LIBSFJIT_0$", "", $3); print $3 }' | sort >"$tmp/so"
nm -g --defined-only "$O/lib/libsfjit.a" | awk 'NF == 3 { print $3 }' |
	sort >"$tmp/a"
(cd Documentation/man && printf '%s\n' ./*.3) |
	sed 's|^\./||; s|\.3$||' | sort >"$tmp/man"
if [ "$(wc -l <"$tmp/header")" -ge 13 ]; then
	ok "functions are found in the header"
else
	not_ok "functions are found in the header" "$(cat "$tmp/header")"
fi
same "version map has what the header has" "$tmp/header" "$tmp/map"
same "shared library has what the header has" "$tmp/header" "$tmp/so"
same "static library has what the header has" "$tmp/header" "$tmp/a"
same "manual pages have what the header has" "$tmp/header" "$tmp/man"
for file in kernel-patches/linux/include/uapi/linux/*.h; do
	name=${file##*/}
	same "<sfjit/$name> is the kernel's header" "$file" \
		"sframegen/include/sfjit/$name"
done
same "<sfjit/device.h> is the module's header" module/device.h \
	sframegen/include/sfjit/device.h
format() {
	gcc -E -dM -x c "$1" | grep 'define SFRAME_' | sort
}
format sframegen/include/sfjit/format.h >"$tmp/format"
format kernel-patches/linux/kernel/unwind/sframe_format.h >"$tmp/kernels"
same "<sfjit/format.h> has the kernel's numbers" "$tmp/kernels" "$tmp/format"

# Or two plugins with it would call each other's copy.
plugin_exports() {
	echo 'int plugin(void) { return 0; }' | gcc -shared -fPIC -x c - -x none \
		-Wl,--whole-archive "$1" -Wl,--no-whole-archive -pthread \
		-o "$tmp/plugin.so" &&
		nm -D --defined-only "$tmp/plugin.so" | cut -d ' ' -f 3
}
for library in libsfjit libsframegen; do
	is "a plugin with $library.a exports its own functions alone" plugin \
		"$(plugin_exports "$O/lib/$library.a")"
done

soname=$(readelf -d "$O/lib/libsfjit.so" | sed -n 's/.*SONAME.*\[\(.*\)\]/\1/p')
is "soname" libsfjit.so.0 "$soname"

# The preload module links these objects alone.
needs() {
	nm "$O/obj/userspace/libsfjit/$1.o" | awk '$1 == "U" { print $2 }' |
		grep -v _GLOBAL_OFFSET_TABLE_ | sort | tr '\n' ' '
}
is "registration needs nothing but prctl, the node, errno and the ABI" \
	"__errno_location prctl sfg_host_abi sfjit_node_call sfjit_node_used " \
	"$(needs register)"
is "the node needs nothing but system calls" "__errno_location syscall " \
	"$(needs node)"

# One place for each interface talks to the kernel.
calls=$(cd userspace/libsfjit && grep -l '\<prctl(' ./*.c | tr '\n' ' ')
is "one file for each interface calls prctl" \
	"./assist_kernel.c ./register.c " "$calls"

for header in $headers; do
	for language in "c -std=c99" "c++ -std=c++98"; do
		# shellcheck disable=SC2086 # a list
		works "<$header> alone is ${language%% *}" gcc -x $language \
			-Iuserspace/include -Isframegen/include -Wall -Wextra \
			-Werror -fsyntax-only -include "$header" /dev/null
	done
done
compiles "headers are C99" gcc -xc-header -std=c99 -pedantic
compiles "headers are C23" gcc -xc-header -std=c2x -pedantic
compiles "headers are C++98 with stdint" g++ -xc++-header -std=c++98
for std in 11 14 17 20; do
	compiles "headers are C++$std for gcc" g++ -xc++-header \
		-std=c++$std -pedantic
done
if command -v clang++ >/dev/null; then
	compiles "headers are C99 for clang" clang -xc-header -std=c99 -pedantic
	for std in 11 14 17 20; do
		compiles "headers are C++$std for clang" clang++ \
			-xc++-header -std=c++$std -pedantic
	done
else
	skip "headers for clang" "clang is not installed"
fi
finish
