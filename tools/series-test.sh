# SPDX-License-Identifier: MIT
# SPDX-FileCopyrightText: 2026 The sfjit authors
# shellcheck shell=sh
# shellcheck disable=SC2154 # work is tools/series'
#
# The testing part of tools/series: each series is to pass its tests without those
# above it.  Sourced after series-build.sh.

# The selftests that the tree has so far, as its own Makefile makes them.
make_selftests() {
	selftests=$work/guest/tests/kernel/selftests
	rm -rf "$work/guest"
	mkdir -p "$selftests"
	[ -d "$work/linux/tools/testing/selftests/sframe" ] || return 0
	series_make headers
	make -C "$work/linux/tools/testing/selftests/sframe" OUTPUT="$selftests" \
		KHDR_INCLUDES="-isystem $work/build-$karch/usr/include"
}

selftest_names() { (cd "$selftests" && find . -name '*_test' | sed 's|./||' | sort); }

# The fixes have none.
kunit_suites() { [ -f "$work/linux/kernel/unwind/sframe_kunit.c" ] && echo 3 || echo 0; }

# Runs in the guest: as many KUnit suites at least, and the selftests named.
# shellcheck disable=SC2016 # variables of the guest
in_guest='failed=0 suites=0
for suite in /sys/kernel/debug/kunit/sframe_*; do
	[ -d "$suite" ] || continue
	echo run >"$suite/run" && cat "$suite/results" || failed=1
	grep -q "^ok" "$suite/results" || failed=1
	suites=$((suites + 1))
done
[ $suites -ge "$1" ] || { echo "only $suites KUnit suites"; failed=1; }
shift
[ $# = 0 ] || tests/in-guest "$@" || failed=1
exit $failed'

# test_series: what is applied so far.
test_series() {
	tree=$work/linux variant=patched
	of_machine "$variant"
	write_new_config "$variant"
	series_make "$boot"
	make_selftests
	# shellcheck disable=SC2046 # names
	O=$work/guest "$top/tools/guest" --rootfs=none --timeout=3600 --name=series \
		--kernel="$work/build-$karch/arch/$karch/boot/$boot" -- \
		sh -c "$in_guest" sh "$(kunit_suites)" $(selftest_names)
}
