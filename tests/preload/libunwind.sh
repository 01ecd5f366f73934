#!/bin/sh
# SPDX-License-Identifier: MIT
# SPDX-FileCopyrightText: 2026 The sfjit authors
#
# Description: under sfjit run, frames that a program linked with LLVM's
# libunwind passes to __register_frame() get windows; frames passed to __unw_*()
# do not.

# shellcheck source=tests/lib/tap.sh
. "$(dirname "$0")/../lib/tap.sh"
# Before lib.sh, which sets its own cache.
library=$(tools/libunwind 2>"$tmp/stderr") ||
	skip_all "no libunwind of Debian 13 (tools/libunwind)"
# shellcheck source=tests/preload/lib.sh
. "$top/tests/preload/lib.sh"

# Actions on code, and how many windows it has.
steps() {
	sed -n 's/^sfjit: [0-9]* [0-9.]* //p' "$log" |
		sed -n 's/ jit:[0-9a-f]*\( windows=[0-9]*\)\{0,1\}.*/\1/p' |
		tr '\n' ' '
}

unwind() {
	LD_LIBRARY_PATH=$library
	export LD_LIBRARY_PATH
	also register "$run/unwind-jit" "$1"
	unset LD_LIBRARY_PATH
}

unwind frame
is "__register_frame() of one FDE" "registered windows=1 removed " "$(steps)"
for how in fde section; do
	unwind $how
	is "__unw_*(): $how" "" "$(steps)"
done

# Programs take one of these symbols as a sign of LLVM's libunwind.
is "the module has no name of libunwind's own" "__register_frame" \
	"$(nm -D --defined-only "$preload" | grep -ow \
		-e '__unw_.*' -e __register_frame)"
finish
