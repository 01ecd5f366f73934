#!/bin/sh
# SPDX-License-Identifier: MIT
# SPDX-FileCopyrightText: 2026 The sfjit authors
#
# Description: a Debian 13 gets the packages of kernel and commands, boots that
# kernel by its own initial RAM disk and systemd, profiles a service, and gets rid
# of them.

# shellcheck source=tests/lib/tap.sh
. "$(dirname "$0")/../../lib/tap.sh"
[ "$(id -u)" = 0 ] || skip_all "only root can make a root file system its own"

works "the kernel packages are built" tools/kernel-package --config=small
works "the packages of the commands are built" tools/packages
[ $failed = 0 ] || finish

# Where the guest finds them.
out=$O/tests/system/machine
rm -rf "$out" "$O/guest-out/boot"
mkdir -p "$out"
cp "$O"/kernel-package/linux-image-*.deb "$O"/packages/sfjit-tools_*.deb "$out"

# run NAME OPTION... SCRIPT: on the disk, which keeps what is done
disk=$tmp/disk
cp --sparse=always "$(tests/system/machine/rootfs)" "$disk"
run() {
	name=$1
	shift
	also tools/guest "--name=$name" "--disk=$disk" --timeout=3600 "$@"
}
run machine-install -- tests/system/machine/install
[ $failed = 0 ] || finish
run machine --boot="$O/guest-out/boot" --mem=2048 -- tests/system/machine/use
run machine-remove -- tests/system/machine/remove
finish
