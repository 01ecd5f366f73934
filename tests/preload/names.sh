#!/bin/sh
# SPDX-License-Identifier: MIT
# SPDX-FileCopyrightText: 2026 The sfjit authors
#
# Description: the names that the module of sfjit run defines in each program.
# Programs use those of LLVM's libunwind, __unw_*, to decide what they register.

# shellcheck source=tests/lib/tap.sh
. "$(dirname "$0")/../lib/tap.sh"
# shellcheck source=tests/preload/lib.sh
. "$top/tests/preload/lib.sh"

cat >"$tmp/names" <<'END'
__deregister_frame
__deregister_frame_info
__deregister_frame_info_bases
__gmon_start__
__register_frame
__register_frame_info
__register_frame_info_bases
__register_frame_info_table
__register_frame_info_table_bases
__register_frame_table
__sfjit_cover_modules
__sfjit_fill_cache
__sfjit_make_table
chroot
mmap
mmap64
mprotect
mremap
pkey_mprotect
prctl
setns
setresuid
setreuid
setuid
umount2
END
nm -D --defined-only "$preload" | awk '{ print $3 }' | LC_ALL=C sort \
	>"$tmp/defined"
same "names that the module defines" "$tmp/names" "$tmp/defined"
finish
