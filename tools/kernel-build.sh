# SPDX-License-Identifier: MIT
# SPDX-FileCopyrightText: 2026 The sfjit authors
# shellcheck shell=sh
#
# Kernel images.  A variant is a list of configuration fragments and a tree.
# Builds are incremental in one directory per variant; what a build gave is
# kept in the cache under the hash of everything that went into it.
# Sourced after kernel-tree.sh and kernel-config.sh.

# Nothing of the machine gets into the image: same input, same kernel.
export KBUILD_BUILD_TIMESTAMP='2026-01-01' KBUILD_BUILD_USER=sfjit \
	KBUILD_BUILD_HOST=sfjit KBUILD_BUILD_VERSION=1

fragments() {
	case $1 in
	unpatched) set -- guest x86_64 ;;
	patched) set -- guest x86_64 sframe sframe-kunit ;;
	debug) set -- guest x86_64 sframe sframe-kunit debug lockup x86_64-gdb ;;
	kcsan | gdb | bpf | objtool) set -- guest x86_64 sframe sframe-kunit "x86_64-$1" ;;
	aarch64 | s390x) set -- guest "$1" sframe sframe-kunit ;;
	aarch64_debug) set -- guest aarch64 sframe sframe-kunit debug lockup ;;
	s390x_debug) set -- guest s390x sframe sframe-kunit debug ;;
	*) die "no kernel variant '$1'" ;;
	esac
	for _f; do echo "$top/tools/config/$_f.config"; done
}

# of_machine VARIANT: sets what the kernel calls its architecture, the prefix of
# its compiler, and the image.
of_machine() {
	case $1 in
	aarch64*)
		karch=arm64 cross=aarch64-linux-gnu- boot=Image.gz ;;
	s390x*)
		karch=s390 cross=s390x-linux-gnu- boot=bzImage ;;
	*)
		karch=x86 cross='' boot=bzImage ;;
	esac
}

# kernel_make ARGUMENT...: in $tree, for the machine.
kernel_make() {
	make -C "$tree" ARCH=$karch CROSS_COMPILE=$cross "$@"
}

kernel_id() {
	# shellcheck disable=SC2046
	{
		cat "$base/id" $(fragments "$1")
		of_machine "$1" && "${cross}gcc" --version
		[ "$1" = unpatched ] || series_id
	} | hash16
}

# kernel_image VARIANT: sets $image.  The series may be edited while this waits
# for another build, so its hash is taken again under the lock.
kernel_image() {
	fragments "$1" >/dev/null
	variant=$1
	of_machine "$variant"
	image=$cache/kernel-$variant-$(kernel_id "$variant")/$boot
	touch -c "${image%/*}"
	[ ! -f "$image" ] || return 0
	lock_tree
	cached "kernel-$variant" "$(kernel_id "$variant")" \
		"building the $variant kernel" build_image
	unlock_tree
	image=$entry/$boot
	drop_old "kernel-$variant"
}

build_image() {
	make_kernel "$variant"
	cp "$build/arch/$karch/boot/$boot" "$build/System.map" "$1/"
	cp "$build/.config" "$1/config"
	our_functions >"$1/functions"
	! grep -qx CONFIG_GDB_SCRIPTS=y "$build/.config" || copy_symbols "$1"
}

# gdb loads the commands that lie beside vmlinux under its name.
copy_symbols() {
	kernel_make O="$build" scripts_gdb
	mkdir "$1/scripts"
	cp "$build/vmlinux" "$1/"
	cp -L "$build/vmlinux-gdb.py" "$1/"
	cp -rL "$build/scripts/gdb" "$1/scripts/"
}

# Of the files that the series is about, without what the compiler appends.
our_functions() {
	find "$build/kernel/unwind" "$build/fs/proc/sframe.o" -name '*.o' \
		2>/dev/null | xargs -r nm |
		sed -n 's/^.* [tT] \([^.]*\).*/\1/p' | sort -u
}

# make_kernel VARIANT: sets $tree and $build, the directory where it is built.
# `id' in there says of what; it is missing while make runs, for a make that was
# killed may leave files newer than their sources and half written.
make_kernel() {
	of_machine "$1"
	source_tree "$1"
	build=$cache/build-$1-$(cat "$base/id")
	_id=$(kernel_id "$1")
	[ "$(cat "$build/id" 2>/dev/null)" != "$_id" ] || return 0
	[ -f "$build/id" ] || rm -rf "$build"
	mkdir -p "$build"
	echo other >"$build/id"
	configure "$build" "$1"
	rm "$build/id"
	_rc=0
	kernel_make O="$build" -j"$jobs" $boot modules || _rc=$?
	[ $_rc = 0 ] || _id=failed
	echo "$_id" >"$build/id"
	return $_rc
}

# source_tree VARIANT: sets $tree.
source_tree() {
	case $1 in
	unpatched) tree=$base/linux ;;
	*) patched_tree ;;
	esac
}

configure() {
	write_config "$1" "$2"
	assert_config "$1/fragment" "$1/.config"
}

write_config() {
	mkdir -p "$1"
	# shellcheck disable=SC2046
	cat $(fragments "$2") >"$1/fragment"
	kernel_make O="$1" tinyconfig
	(cd "$1" && ARCH=$karch "$tree/scripts/kconfig/merge_config.sh" -m -O "$1" \
		.config fragment)
	kernel_make O="$1" olddefconfig
}

# kernel_module DIR OUT: for $SFJIT_KERNEL, the variant tools/guest takes too.
kernel_module() {
	variant=${SFJIT_KERNEL:-patched}
	mkdir -p "$2"
	_module=$(cd "$1" && pwd) _out=$(cd "$2" && pwd)
	lock_tree
	step module "building the module in $1" build_module "$_module" "$_out"
	unlock_tree
}

# The module must see the very tree and configuration of its kernel.
build_module() {
	make_kernel "$variant"
	kernel_make O="$build" M="$1" MO="$2" modules
}
