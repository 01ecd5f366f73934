#!/bin/sh
# SPDX-License-Identifier: MIT
# SPDX-FileCopyrightText: 2026 The sfjit authors
#
# Description: the module does not compile for a kernel that is not one of its own,
# or whose hooked functions have other arguments.

# shellcheck source=tests/lib/tap.sh
. "$(dirname "$0")/../../lib/tap.sh"
series=${SFJIT_KERNEL#stock-}
entry=$(tools/stock-kernel "$series" 2>"$tmp/said") ||
	skip_all "no kernel of Debian here"
root=$entry/root source=usr/src/changed-$$ sudo=''
[ "$(id -u)" = 0 ] || sudo=sudo
trap '$sudo rm -rf "$root/$source"; end $?' EXIT

# after_includes FILE TEXT: puts it there
after_includes() {
	line=$(grep -n '^#include' "$root/$source/module/$1" | tail -n 1)
	printf '%s\n' "$2" |
		$sudo sed -i "${line%%:*}r /dev/stdin" "$root/$source/module/$1"
}

# changed FUNCTION: it has other arguments
changed() {
	printf 'void sfjit_changed_%s(char);\n#define %s sfjit_changed_%s' \
		"$1" "$1" "$1"
}

# compile OBJECT...: what the compiler says
compile() {
	$sudo chroot "$root" env PATH=/usr/sbin:/usr/bin:/sbin:/bin LC_ALL=C make -k \
		-C "/lib/modules/$(cat "$entry/version")/build" \
		M="/$source/module" "$@" 2>&1
}

$sudo mkdir "$root/$source"
$sudo cp -r --parents -t "$root/$source" module kernel-patches/linux/include \
	kernel-patches/linux/kernel/unwind kernel-patches/linux/arch/x86
works "it compiles as it is" compile main.o callchain.o target.o

after_includes main.c "$(changed security_task_prctl)
$(changed uprobe_dup_mmap)
#undef LINUX_VERSION_PATCHLEVEL
#define LINUX_VERSION_PATCHLEVEL 11"
after_includes callchain.c "$(changed perf_callchain_user)"
after_includes target.c "$(changed mm_access)
$(changed pidfd_get_task)"
compile main.o callchain.o target.o >"$tmp/said"
for function in security_task_prctl uprobe_dup_mmap perf_callchain_user mm_access \
	pidfd_get_task; do
	like "$function() with other arguments" \
		"*error: static assertion failed:*__same_type($function, *" \
		"$(grep "static assertion failed.*$function" "$tmp/said")"
done
like "another kernel" "*sfjit.ko is for Linux 6.1 and 6.12*" \
	"$(grep "static assertion failed" "$tmp/said")"
finish
