# SPDX-License-Identifier: MIT
# SPDX-FileCopyrightText: 2026 The sfjit authors
# shellcheck shell=sh
#
# The kernel the series applies to: $base/linux is its tree, which nobody
# writes to, $base/id identifies its content, $base/origin says in words where
# it is from.  Sourced after apt.sh.

series_version=7.3

kernel_source() {
	if [ -n "${KERNEL_SRC:-}" ]; then
		[ -f "$KERNEL_SRC/Kconfig" ] ||
			die "KERNEL_SRC=$KERNEL_SRC is not a kernel tree"
		cached linux "$(tree_id "$KERNEL_SRC")" \
			"copying $KERNEL_SRC" source_from_tree
	elif [ -n "${KERNEL_TARBALL:-}" ]; then
		[ -f "$KERNEL_TARBALL" ] ||
			die "KERNEL_TARBALL=$KERNEL_TARBALL: no such file"
		cached linux "$(hash16 <"$KERNEL_TARBALL")" \
			"unpacking $KERNEL_TARBALL" source_from_tarball
	else
		cached linux "apt-$series_version" \
			"fetching the source of Linux $series_version" \
			source_from_apt
	fi
	base=$entry
}

# Debian's source with Debian's patches.
debian_source() {
	cached linux "debian-$series_version" \
		"fetching Debian's source of Linux $series_version" \
		source_from_debian
	base=$entry
}

source_from_debian() {
	private_apt trixie-backports trixie forky
	mkdir "$1/download"
	debian_tarball "$1" || no_tarball
	rm -r "$1/download"
}

# A build in the tree would make every O= build refuse it.
tree_id() {
	(cd "$1" && find . -path ./.git -prune -o -type f -printf \
		'%P %s %T@\n') | sort | hash16
}

source_from_tree() {
	mkdir "$1/linux"
	tar -C "$KERNEL_SRC" --exclude=./.git -cf - . | tar -C "$1/linux" -xf -
	make -C "$1/linux" mrproper
	tree_id "$KERNEL_SRC" >"$1/id"
	echo "$(kernel_version "$1/linux") from $KERNEL_SRC" >"$1/origin"
}

source_from_tarball() {
	unpack_source "$1" "$KERNEL_TARBALL"
	echo "$(kernel_version "$1/linux") from $KERNEL_TARBALL" >"$1/origin"
}

unpack_source() {
	mkdir "$1/linux"
	tar -C "$1/linux" --strip-components=1 -xf "$2"
	hash16 <"$2" >"$1/id"
}

kernel_version() {
	sed -n 's/^VERSION = /v/p; s/^PATCHLEVEL = /./p
		s/^SUBLEVEL = /./p; /^NAME/q' "$1/Makefile" | tr -d '\n'
}

# The archive's index may name files which are gone or not there yet, so every
# listed version is tried, the newest first.
source_from_apt() {
	private_apt trixie-backports trixie forky
	mkdir "$1/download"
	pristine_tarball "$1" || debian_tarball "$1" || no_tarball
	rm -r "$1/download"
}

listed_versions() {
	apt-cache madison "$1" | cut -d '|' -f 2 | tr -d ' ' |
		grep "^$series_version\." | sort -Vru
}

pristine_tarball() {
	for _version in $(listed_versions linux); do
		(cd "$1/download" && apt-get source --download-only \
			--tar-only "linux=$_version") || continue
		unpack_source "$1" "$1"/download/linux_*.orig.tar.xz
		echo "$(kernel_version "$1/linux"), pristine" >"$1/origin"
		return
	done
	return 1
}

debian_tarball() {
	_package=linux-source-$series_version
	for _version in $(listed_versions "$_package"); do
		(cd "$1/download" &&
			apt-get download "$_package=$_version") || continue
		dpkg-deb -x "$1"/download/*.deb "$1/download"
		unpack_source "$1" "$1/download/usr/src/$_package.tar.xz"
		echo "$(kernel_version "$1/linux"), Debian's $_package" \
			"$_version" >"$1/origin"
		return
	done
	return 1
}

no_tarball() {
	say "The archive has no Linux $series_version source any more."
	say "Fetch a linux-$series_version.y tarball and run again with" \
		"KERNEL_TARBALL=path/to/it"
	exit 1
}
