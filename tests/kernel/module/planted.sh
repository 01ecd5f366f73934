# SPDX-License-Identifier: MIT
# SPDX-FileCopyrightText: 2026 The sfjit authors
# shellcheck shell=sh
#
# Bugs of tests/kernel/module/planted.c in a guest.  Sourced after
# tests/lib/tap.sh.

# plant KERNEL BUG...: makes these bugs one after the other.  The module stays
# loaded last, for its functions to have names when the guest ends.
plant() {
	_kernel=$1 _status=0
	shift
	planted_log=build/logs/guest-planted-$_kernel.dmesg
	tools/guest --kernel="$_kernel" --rootfs=none \
		--name="planted-$_kernel" -- sh -c '
		module=$1
		shift
		for bug; do
			rmmod planted 2>/dev/null || :
			insmod "$module" "bug=$bug" || exit
		done' sh "build/module/$_kernel/planted.ko" "$@" >&2 ||
		_status=$?
	is "planted $*: the guest fails" 99 $_status
}

# found BUG PATTERN: what the kernel's log says of it.
found() {
	works "planted $1: found" grep -a "$2" "$planted_log"
}
