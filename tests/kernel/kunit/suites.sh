#!/bin/sh
# SPDX-License-Identifier: MIT
# SPDX-FileCopyrightText: 2026 The sfjit authors
#
# The KUnit suites of decoder and registry, which are part of the kernel: what
# they print is what the kernel's own tool reads, too.

# shellcheck source=tests/lib/tap.sh
. "$(dirname "$0")/../../lib/tap.sh"
kernel=${SFJIT_KERNEL:-patched}
also tools/guest --name="kunit-${kernel##*/}" --kernel="$kernel" \
	--rootfs=none -- tests/in-guest kunit
cp "$tmp/also" "$tmp/suites"
tree=$(tools/kernel source unpatched) || exit
sed -n 's/^# Subtest: //p' "$tmp/suites" >"$tmp/names"
while read -r suite; do
	sed -n "/^# Subtest: $suite\$/,/^\(not \)\{0,1\}ok /s/^    //p" \
		"$tmp/suites" >"$tmp/ktap"
	works "kunit.py parses $suite" python3 -B \
		"$tree/tools/testing/kunit/kunit.py" parse "$tmp/ktap"
done <"$tmp/names"
finish
