#!/bin/sh
# SPDX-License-Identifier: MIT
# SPDX-FileCopyrightText: 2026 The sfjit authors
#
# Description: what make install installs can be found with pkg-config and
# used from C and C++, shared and static; installed names have manual pages.

# shellcheck source=tests/lib/tap.sh
. "$(dirname "$0")/../lib/tap.sh"

works "make install" tools/make -s PREFIX=/opt/sf LIBDIR=/opt/sf/lib \
	DESTDIR="$tmp/root" install-libsfjit
[ $failed = 0 ] || finish
root=$tmp/root/opt/sf
for file in lib/libsfjit.a lib/libsfjit.so lib/libsfjit.so.0 \
	include/sfjit.h include/sfjit/rows.h include/sfjit/sframe.h \
	include/sfjit/row_builder.h include/sfjit/code.h include/sfjit/text.h \
	include/sfjit/area.h include/sfjit/epoch.h \
	include/sfjit/names.h include/sfjit/check.h \
	include/sfjit-assist.h include/sfjit/unwind_assist.h \
	include/sfjit/client.h include/sfjit/device.h \
	include/sfjit/format.h include/sfjit/packed.h \
	lib/pkgconfig/libsfjit.pc include/sfjit/version.h \
	lib/libsframegen.a include/sframegen.h lib/pkgconfig/libsframegen.pc \
	lib/sfjit/libsfjit-preload.so \
	share/man/man7/sfjit.7 share/man/man7/libsfjit.7 \
	share/man/man7/sfjit_area.7 share/man/man7/libsframegen.7 \
	share/man/man3/sfjit_unregister.3 share/man/man3/sfjit_row.3type \
	share/man/man3/sfjit_assist_name.3 share/man/man2/PR_SFRAME_QUERY.2 \
	share/man/man2/PR_SFRAME_UNREGISTER.2; do
	works "installed $file" test -s "$root/$file"
done
if grep -rq "$tmp\|@[A-Z]*@" "$root/lib/pkgconfig"; then
	not_ok "libsfjit.pc" "$(cat "$root"/lib/pkgconfig/*.pc)"
else
	ok "libsfjit.pc knows no build path"
fi

cat >"$tmp/use.c" <<END
#include <sfjit.h>
#include <sfjit/sframe.h>

static long target(void)
{
	return 42;
}

int main(void)
{
	struct sfjit_pool *pool;
	void *entry;

	if (sfjit_pool_create(SFJIT_TRAMP_SLOT, &pool) ||
	    sfjit_tramp_get(pool, (const void *)target, 0, &entry))
		return 1;
	return ((long (*)(void))entry)() != 42 || sfjit_pool_retire(pool);
}
END
cp "$tmp/use.c" "$tmp/use.cc"

# The installed files cover the modules of a program without sfjit.
cat >"$tmp/cover.c" <<END
#include <sfjit/code.h>

int main(void)
{
	return -sfjit_cover_modules(0);
}
END

# A runtime with only its own header.
cat >"$tmp/assist.c" <<END
#include <sfjit-assist.h>

static int name(char *text, size_t size, void *data)
{
	*text = (char)size;
	return -1;
}

static int insert(const struct sfjit_assist_stack *stack, void *data)
{
	return sfjit_assist_insert(stack, 0, sfjit_assist_name(1, 2, name, data));
}

int main(void)
{
	static const char text[16] = "";
	struct sfjit_assist_stats stats = { sizeof(stats), 0, 0, 0, 0, 0, 0, 0, 0 };
	char got;

	return sfjit_assist_register(text, sizeof(text), insert, 0) ||
	       sfjit_assist_name(1, 2, name, 0) || sfjit_assist_read(&got, text, 1) ||
	       sfjit_assist_stats(&stats) || stats.names ||
	       sfjit_assist_unregister(text) || sfjit_assist_disable();
}
END
cp "$tmp/assist.c" "$tmp/assist.cc"

# Rows to a section and back; names of libsfjit beside it, as in a JIT.
cat >"$tmp/gen.c" <<END
#include <sfjit.h>
#include <sframegen.h>

static const struct sfjit_row row = {
	0, 0, SFJIT_REG(SFJIT_X86_64_SP, 8), SFJIT_NO_RULE, SFJIT_NO_RULE
};

int main(void)
{
	struct sfjit_function f = { 0x1000, 16, 1, &row, 0, 0 }, found;
	unsigned char buf[SFG_SECTION_MAX(1, 1)];
	struct sfg_section section;
	struct sfjit_row got;
	size_t used;

	if (sfg_write_section(SFRAME_ABI_AMD64_LE, &f, 1, 0, buf, sizeof(buf),
			      &used, NULL) ||
	    sfg_open_section(&section, buf, used, 0, NULL) ||
	    sfg_find_row(&section, 0x1004, &found, &got, NULL))
		return 1;
	return sfg_packed_size(SFRAME_ABI_AMD64_LE, &f, 1, &used, NULL) ||
	       sfjit_section_size(&f, 1) != (long)used ||
	       !sfg_rows_equal(&row, &got);
}
END
cp "$tmp/gen.c" "$tmp/gen.cc"

if ! command -v pkg-config >/dev/null; then
	skip pkg-config "not installed"
	finish
fi
export PKG_CONFIG_PATH="$root/lib/pkgconfig" PKG_CONFIG_SYSROOT_DIR="$tmp/root"

# builds_and_runs COMPILER FLAGS...
builds_and_runs() {
	"$@" -Werror -o "$tmp/use" && LD_LIBRARY_PATH="$root/lib" "$tmp/use"
}

# use NAME COMPILER FLAGS...
use() {
	name=$1
	shift
	works "$name" builds_and_runs "$@"
}

# shellcheck disable=SC2046
use "C, shared" gcc "$tmp/use.c" $(pkg-config --cflags --libs libsfjit)
# shellcheck disable=SC2046
works "a program that covers its modules" gcc "$tmp/cover.c" -Werror -o "$tmp/cover" \
	$(pkg-config --cflags --libs libsfjit)
is "the module is found: status" 0 \
	"$(LD_LIBRARY_PATH="$root/lib" "$tmp/cover"; echo $?)"
if readelf -d "$tmp/use" | grep -q 'NEEDED.*libsfjit.so.0'; then
	ok "needs the soname"
else
	not_ok "needs the soname" "$(readelf -d "$tmp/use" | grep NEEDED)"
fi
# shellcheck disable=SC2046
use "C, static" gcc -static "$tmp/use.c" \
	$(pkg-config --static --cflags --libs libsfjit)
# shellcheck disable=SC2046
use "C++, shared" g++ "$tmp/use.cc" $(pkg-config --cflags --libs libsfjit)
# shellcheck disable=SC2046
use "a runtime in C, shared" gcc "$tmp/assist.c" \
	$(pkg-config --cflags --libs libsfjit)
# shellcheck disable=SC2046
use "a runtime in C, static" gcc -static "$tmp/assist.c" \
	$(pkg-config --static --cflags --libs libsfjit)
# shellcheck disable=SC2046
use "a runtime in C++" g++ "$tmp/assist.cc" \
	$(pkg-config --cflags --libs libsfjit)
for kind in "gcc $tmp/gen.c" "g++ $tmp/gen.cc" "gcc -static $tmp/gen.c"; do
	# shellcheck disable=SC2046,SC2086
	use "both libraries, ${kind%" "*}" $kind \
		$(pkg-config --static --cflags --libs libsframegen libsfjit)
done
# An archive hides nothing: a program may have any other name.
is "libsframegen.a takes no names but sfg_*" "" "$(nm -g --defined-only \
	"$root/lib/libsframegen.a" | awk 'NF == 3 && $3 !~ /^sfg_/ { print $3 }')"
version=$(pkg-config --modversion libsframegen)
is "libsframegen.pc has the version of the commands" \
	"$("$O/bin/sfjit" --version | cut -d ' ' -f 2)" "$version"
finish
