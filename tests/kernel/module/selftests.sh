#!/bin/sh
# SPDX-License-Identifier: MIT
# SPDX-FileCopyrightText: 2026 The sfjit authors
#
# The kernel's selftests on Debian's kernel with the module, but for assisted
# stacks, which are the series' alone, and deferred ones.

# shellcheck source=tests/lib/guest.sh
. "$(dirname "$0")/../../lib/guest.sh"
tests/kernel/selftests/build >&2
series=${kernel#stock-}
tools/stock-kernel --module "$series" >&2
# Files have no tables there.
none='^$'
[ "$series" != 6.1 ] || none='^files_test$'
set --
for name in $(tests/kernel/selftests/selftests |
	grep -v -e "^assist_" -e "^charge_test\$" -e "$none") libsfjit_test; do
	set -- "$@" "tests/kernel/module/selftest $name"
done
guest selftests "--rootfs=none --timeout=3600" tests/kernel/module/load-stock "$@"
