#!/bin/sh
# SPDX-License-Identifier: MIT
# SPDX-FileCopyrightText: 2026 The sfjit authors
#
# Description: the sample rate of the machine, which perf lowers when samples
# take long: hostile tables against frame pointers, in a guest that counts
# instructions.

# shellcheck source=tests/lib/guest.sh
. "$(dirname "$0")/../../lib/guest.sh"
tests/kernel/selftests/build module >&2
tools/make -s build/tests/system/perf/took >&2
exec tools/guest --icount --rootfs=none --mem=2048 --kernel=patched \
	--timeout=3600 --name=took -- sh -c '
	modules=build/module/patched
	insmod $modules/sframe_probe.ko
	insmod $modules/sample_took.ko took="0x$(awk \
		"\$3 == \"perf_sample_event_took\" { print \$1 }" \
		/proc/kallsyms)"
	exec build/tests/system/perf/took'
