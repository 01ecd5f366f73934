# SPDX-License-Identifier: MIT
# SPDX-FileCopyrightText: 2026 The sfjit authors
# shellcheck shell=sh
#
# Sourced first by each test whose cases run in one guest, on the kernel of
# $SFJIT_KERNEL.  Sets $kernel, the last part of its name, and $machine, its
# machine.  Changes to the top of the tree.

set -eu
kernel=${SFJIT_KERNEL:-patched} kernel=${kernel##*/}
case $kernel in
aarch64* | s390x*) machine=${kernel%_debug} ;;
*) machine=x86_64 ;;
esac
cd "$(dirname "$0")"
while ! [ -e kernel-patches/series ]; do
	cd ..
done

# guest NAME OPTIONS WHAT...: options of tools/guest, arguments of
# tests/in-guest; ends the script.
guest() {
	_name=$1 _options=$2
	shift 2
	# shellcheck disable=SC2086 # words
	exec tools/guest --name="$_name-$kernel" $_options -- \
		tests/in-guest "$@"
}
