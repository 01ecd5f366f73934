# SPDX-License-Identifier: MIT
# SPDX-FileCopyrightText: 2026 The sfjit authors
# shellcheck shell=sh
# shellcheck disable=SC2034 # for those who source it
#
# Shared by the benchmarks.  Source it at the top of the tree.  Sets $build; $tmp,
# a directory that is removed at the end; $quick, an option for the programs in
# guests.

build=${O:-build}
quick=
[ "${BENCH_QUICK:-0}" = 0 ] || quick=-q
memory=2048
tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT

# guest KERNEL NAME COMMAND...: prints what it says.  One processor executes an
# instruction in each nanosecond, and RDTSC tells the guest: what it counts is
# instructions, of the kernel too, and the same ones each time.
guest() {
	_kernel=$1 _name=$2
	shift 2
	tools/guest --icount --rootfs=none --mem=$memory \
		--kernel="$_kernel" --timeout=3600 --name="bench-$_name" -- "$@"
}

# figures NAME: JSON of what the measurement NAME left in $tmp/lines
figures() { python3 -B "bench/$1-figures" <"$tmp/lines"; }
