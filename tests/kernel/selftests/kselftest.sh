#!/bin/sh
# SPDX-License-Identifier: MIT
# SPDX-FileCopyrightText: 2026 The sfjit authors
#
# The kernel's selftests of SFrame windows, one guest for all of them.

# shellcheck source=tests/lib/guest.sh
. "$(dirname "$0")/../../lib/guest.sh"
tests/kernel/selftests/build >&2
case $machine in
x86_64) library=libsfjit_test ;;
*) library='' ;;
esac
packed="packed_callchain_test packed_probe_test packed_signal_test"
# KASAN makes walks long, most of all on s390x, whose processes are traced.
limit=3600
case $kernel in
*debug) limit=14000 ;;
esac
# shellcheck disable=SC2046,SC2086 # names without blanks
guest kselftest "--rootfs=none --timeout=$limit" $(tests/kernel/selftests/selftests) $packed $library
