#!/bin/sh
# SPDX-License-Identifier: MIT
# SPDX-FileCopyrightText: 2026 The sfjit authors
#
# Description: the packages of debian/ are built, lintian of Debian 13 has
# nothing to say, and in a guest they are installed, used and removed.

# shellcheck source=tests/lib/tap.sh
. "$(dirname "$0")/../../lib/tap.sh"
[ "$(id -u)" = 0 ] || skip_all "only root can make a root file system its own"
tools/make -s build/bin/sfjit >&2 || exit 1
works "the packages are built" tools/packages
[ $failed = 0 ] || finish
built=$O/packages
is "lintian has no errors and warnings" "" "$(grep '^[EW]:' "$built/lintian")"

# holds PACKAGE FILE...: and nothing else, but for documents
holds() {
	package=$1
	shift
	printf '%s\n' "$@" | sort >"$tmp/want"
	dpkg-deb --fsys-tarfile "$built/${package}_"*.deb | tar -t |
		grep -v -e '/$' -e share/doc -e share/lintian | sed 's/^\.//' |
		sort >"$tmp/files"
	same "files of $package" "$tmp/want" "$tmp/files"
}
lib=/usr/lib/x86_64-linux-gnu
version=$("$O/bin/sfjit" --version | cut -d ' ' -f 2)
for library in libsfjit libsfjit-stacks; do
	holds ${library}0 $lib/$library.so.0 "$lib/$library.so.$version"
done
holds sfjit-tools /usr/bin/sfjit /usr/bin/sframegen \
	/usr/lib/sfjit/libsfjit-preload.so /usr/lib/sfjit/libsfjit-hotspot.so \
	/usr/lib/systemd/system/sfjit-daemon.service \
	/usr/share/man/man1/sfjit-attach.1.gz \
	/usr/share/man/man1/sfjit.1.gz \
	/usr/share/man/man1/sfjit-explain.1.gz \
	/usr/share/man/man1/sfjit-inject.1.gz \
	/usr/share/man/man1/sfjit-record.1.gz \
	/usr/share/man/man1/sframegen.1.gz \
	/usr/share/sfjit/flamegraph.html
# shellcheck disable=SC2046 # words
holds sfjit-dkms /usr/lib/modules-load.d/sfjit.conf \
	/usr/lib/udev/rules.d/60-sfjit-dkms.rules \
	"/usr/src/sfjit-$version/dkms.conf" \
	$(find module kernel-patches/linux/include kernel-patches/linux/kernel/unwind \
		kernel-patches/linux/arch/x86 -name '*.[ch]' -o -name Kbuild |
		sed "s|^|/usr/src/sfjit-$version/|")
package=/usr/lib/python3/dist-packages/sfjit
holds python3-sfjit $package/__init__.py $package/__main__.py \
	$package/_launch.py \
	$package/_evaluator.cpython-313-x86_64-linux-gnu.so
dpkg-deb --fsys-tarfile "$built"/libsfjit-dev_*.deb | tar -x -C "$tmp"
dpkg-deb --fsys-tarfile "$built"/libsfjit0_*.deb | tar -x -C "$tmp"

# The library wants the libc of the guest.
out=$O/tests/packages
rm -rf "$out"
mkdir -p "$out"
works "a program is linked with the library" gcc -O2 -I"$tmp/usr/include" \
	-o "$out/hello" userspace/examples/hello_jit.c -L"$tmp$lib" -lsfjit \
	-Wl,--allow-shlib-undefined
# The guest has neither libelf-dev, which libsfjit-stacks-dev wants, nor DKMS.
find "$built" -name '*.deb' ! -name '*-dbgsym_*' ! -name '*-stacks-dev_*' \
	! -name 'sfjit-dkms_*' -exec cp '{}' "$out" \;
also tools/guest --name=packages --timeout=3600 -- tests/system/guest/guest_packages.sh
finish
