#!/bin/sh
# SPDX-License-Identifier: MIT
# SPDX-FileCopyrightText: 2026 The sfjit authors
#
# Description: the commands of Documentation/module.rst on a Debian 12. Packages are
# built and installed in its root file system, where DKMS builds the module for the
# kernels that are there, and for one that is installed later. A guest with Debian's
# kernel uses the module and removes it.

# shellcheck source=tests/lib/tap.sh
. "$(dirname "$0")/../../lib/tap.sh"
[ "$(id -u)" = 0 ] || skip_all "only root can make a root file system its own"
entry=$(tools/stock-kernel debian-12 2>"$tmp/said") ||
	skip_all "no kernel of Debian here"
root=$tmp/root later=$tmp/later version=$(cat "$entry/version")
cp -a "$entry/root" "$root"
newer=$(basename "$root"/lib/modules/6.12.*)
tree=/root/tree/sfjit

# inside COMMAND...: in the root file system, in the copy of the tree
# shellcheck disable=SC2016 # of those shells
inside() {
	unshare --mount sh -c 'mount -t proc proc "$0/proc" && exec chroot "$0" "$@"' \
		"$root" env -i PATH=/usr/sbin:/usr/bin:/sbin:/bin HOME=/root \
		LC_ALL=C.UTF-8 DEBIAN_FRONTEND=noninteractive \
		DEB_BUILD_OPTIONS="parallel=$(nproc)" \
		sh -c 'cd "$0" && exec "$@"' $tree "$@"
}

# dkms_has KERNEL...: the module is installed for these
dkms_has() {
	for _kernel; do
		echo "sfjit/$package_version, $_kernel, x86_64: installed"
	done
}

# command_of NR: of the document, with what needs no network
command_of() {
	sed -n '/^Use$/,/^Without/s/^    //p' Documentation/module.rst |
		sed -n "$1p" | sed -e 's/sudo //g' -e 's/^apt-get build-dep \. && //' \
		-e 's/apt-get install linux-headers-amd64 linux-perf/dpkg --install/'
}

package_version=$(sed -n '1s/.*(\(.*\)).*/\1/p' debian/changelog)
mkdir -p "$root$tree"
tar -c --exclude=./build --exclude="./${O#"$top/"}" --exclude=./.git . |
	tar -x -C "$root$tree"
find "$root" -xdev -printf '/%P\n' >"$tmp/before"
is "the document has a command to build" "dpkg-buildpackage -b --no-sign" \
	"$(command_of 1)"
works "packages are built" inside sh -exc "$(command_of 1)"
[ $failed = 0 ] || finish

mkdir "$later"
mv "$root/lib/modules/$newer" "$later"
works "packages are installed" inside sh -exc "$(command_of 2)"
is "DKMS has built for the kernel that is there" "$(dkms_has "$version")" \
	"$(inside dkms status 2>/dev/null)"
mv "$later/$newer" "$root/lib/modules"
works "headers of another kernel are installed" \
	inside "/var/lib/dpkg/info/linux-headers-$newer.postinst" configure
is "DKMS has built for both" "$(dkms_has "$version" "$newer")" \
	"$(inside dkms status 2>/dev/null)"
for kernel in "$version" "$newer"; do
	like "the module is for $kernel" "$kernel SMP *" \
		"$(inside modinfo -k "$kernel" -F vermagic sfjit)"
done
[ $failed = 0 ] || finish

# The guest compiles nothing: leave sources and compilers out of its file system.
rm -rf --one-file-system "$root/root/tree" "$root"/usr/src/linux-* \
	"$root"/usr/lib/linux-kbuild-* "$root/usr/lib/gcc"
command_of 3 >"$root/root/command"
cp "$tmp/before" "$root/root/before"
mke2fs -q -t ext4 -O ^has_journal -m 0 -d "$root" "$tmp/disk" \
	$(($(du -sk "$root" | cut -f 1) * 5 / 4 + 65536))k
also tools/guest --name=module-packages --disk="$tmp/disk" --timeout=900 -- \
	tests/kernel/module/packages-guest
finish
