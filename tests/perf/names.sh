#!/bin/sh
# SPDX-License-Identifier: MIT
# SPDX-FileCopyrightText: 2026 The sfjit authors
#
# Names with time, by the distribution's perf, on both kernels.

# shellcheck source=tests/lib/guest.sh
. "$(dirname "$0")/../lib/guest.sh"
[ "$kernel" = unpatched ] || tools/guest --kernel=unpatched \
	--name=perf-names-unpatched -- tests/in-guest \
	"tests/perf/record-names unpatched" || exit
guest perf-names "" "tests/perf/record-names $kernel"
