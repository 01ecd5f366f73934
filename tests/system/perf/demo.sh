#!/bin/sh
# SPDX-License-Identifier: MIT
# SPDX-FileCopyrightText: 2026 The sfjit authors
#
# Debian's perf from end to end: the demo's recordings, shorter. Each promised
# figure is a case; so is what is lost without sfjit, or the figures would not
# show what they are said to show.  On the kernel of $SFJIT_KERNEL.

set -eu
# shellcheck source=tests/lib/tap.sh
. "$(dirname "$0")/../../lib/tap.sh"
build=$O
kernel=${SFJIT_KERNEL:-patched} kernel=${kernel##*/}
demo=demo-test-$kernel
recordings=$build/guest-out/$demo
results=$build/tests/system/demo/results-$kernel

# There is no sfjit attach for other machines.
attach=y
[ "$kernel" = patched ] || attach=

rm -rf "$recordings" "$recordings.tar.gz" "$results"
if ! tools/guest --cpus=1 --timeout=3600 "--name=$demo" -- env \
	DEMO_SECONDS=1 DEMO_SAMPLES=400 "DEMO_ATTACH=$attach" sh tools/demo.d/record.sh \
	"build/guest-out/$demo" >&2; then
	not_ok demo "the recordings failed"
	finish
fi
mkdir -p "$recordings"
tar -C "$recordings" -xzf "$recordings.tar.gz"
status=0
python3 -B tools/demo.d/analyse --allow-few "$recordings" "$results" >&2 ||
	status=$?
if [ $status -gt 1 ]; then
	not_ok demo "the recordings cannot be analysed"
	finish
fi
also python3 -B tests/system/demo/test_figures.py "$results/result.json" "$kernel"
[ -z "$attach" ] ||
	also python3 -B tests/system/demo/test_attached.py "$recordings"
[ $failed != 0 ] || rm -rf "$recordings" "$recordings.tar.gz"
finish
