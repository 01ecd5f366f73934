#!/bin/sh
# SPDX-License-Identifier: MIT
# SPDX-FileCopyrightText: 2026 The sfjit authors
#
# Description: a Debian 12 with only gcc, make, libc6-dev and libelf-dev builds
# and installs libsfjit; a program is built with the installed files.

# shellcheck source=tests/lib/tap.sh
. "$(dirname "$0")/../lib/tap.sh"
[ "$(id -u)" = 0 ] || skip_all "only root can make a root file system its own"
root=$(tools/bare) || exit 1
tools/make -s build/gen/sfjit_trampoline.h || exit 1
here=/tmp/bare-$$
trap 'status=$?; rm -rf "$root$here" "$root"/tmp/perf-*.map; end $status' EXIT
mkdir -p "$root$here/src"
# As in a release: neither git nor build results.
tar -c --exclude=./build --exclude="./${O#"$top/"}" --exclude=./.git . |
	tar -x -C "$root$here/src"

# inside COMMAND...
inside() {
	env -i PATH=/usr/sbin:/usr/bin:/sbin:/bin chroot "$root" sh -c \
		"cd $here/src && $*" 2>&1
}

for tool in python3 pkg-config git g++ clang; do
	is "no $tool there" "" "$(inside command -v $tool)"
done
works "make install-libsfjit" inside make -s install-libsfjit PREFIX=/opt/sf \
	DESTDIR=$here/out
out=$root$here/out/opt/sf
for file in lib/libsfjit.a lib/libsfjit.so lib/sfjit/libsfjit-preload.so \
	lib/libsframegen.a include/sfjit.h include/sfjit/code.h \
	include/sfjit-assist.h include/sfjit/unwind_assist.h \
	include/sframegen.h lib/pkgconfig/libsfjit.pc \
	lib/pkgconfig/libsframegen.pc share/man/man3/sfjit_code_retire.3 \
	share/man/man3/sfjit_assist_name.3; do
	works "installed $file" test -s "$out/$file"
done
# Templates must not depend on the assembler.
same "trampolines are those of this machine" "$O/gen/sfjit_trampoline.h" \
	"$root$here/src/build/gen/sfjit_trampoline.h"
for example in hello rows eh_frame; do
	works "builds $example" inside gcc -O2 -I"$here/out/opt/sf/include" \
		-o "$here/$example" "userspace/examples/${example}_jit.c" \
		"$here/out/opt/sf/lib/libsfjit.a"
done
is "hello runs" 41 "$(inside SFJIT_DEBUG=abort "$here/hello")"
is "rows runs" "41 0" "$(inside SFJIT_DEBUG=abort "$here/rows")"
is "eh_frame runs" 41 "$(inside SFJIT_DEBUG=abort "$here/eh_frame")"
finish
