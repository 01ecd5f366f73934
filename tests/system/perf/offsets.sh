#!/bin/sh
# SPDX-License-Identifier: MIT
# SPDX-FileCopyrightText: 2026 The sfjit authors
#
# Description: an emulated guest with one CPU takes samples at each instruction,
# which one with two does not: what is judged in it has prologues.

# shellcheck source=tests/lib/tap.sh
. "$(dirname "$0")/../../lib/tap.sh"
tools/make -s build/tests/system/perf/offsets >&2
also tools/guest --accel=tcg --cpus=1 --name=offsets-each -- \
	tests/system/perf/record-offsets each
also tools/guest --accel=tcg --name=offsets-some -- \
	tests/system/perf/record-offsets some
finish
