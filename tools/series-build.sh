# SPDX-License-Identifier: MIT
# SPDX-FileCopyrightText: 2026 The sfjit authors
# shellcheck shell=sh
# shellcheck disable=SC2154 # work and verdict are tools/series'
#
# The building half of tools/series: what the series touches, not the whole
# kernel, for each commit; for other machines than x86, once, at the end.

# For the machine of the last build_commit.
series_make() {
	kernel_make O="$work/build-$karch" -j"$jobs" "$@"
}

# What the base has of it must build before anything is blamed on a commit.
build_base() {
	step series-base "building the base of the series" build_commit
}

# of_this_machine <LIST: without files of others.
of_this_machine() {
	awk -v mine="arch/$karch/" '!/^arch\// || index($0, mine) == 1'
}

# targets: the object of an edited file; the directory of a new one, where the
# configuration decides what is built.
targets() {
	grep -v '^tools/' "$work/touched" | grep '\.c$' | of_this_machine |
		while read -r _c; do
			if [ -f "$base/linux/$_c" ]; then
				echo "${_c%.c}.o"
			elif has_sources "$work/linux/${_c%/*}"; then
				echo "${_c%/*}/"
			fi
		done | sort -u
}

has_sources() {
	set -- "$1"/*.c
	[ -f "$1" ]
}

# write_new_config VARIANT: most commits change no Kconfig.
write_new_config() {
	_made_of="$1 $(git_kernel "$work/linux" ls-files -s '*Kconfig*' | hash16)"
	_note=$work/made-of-$karch
	[ "$(cat "$_note" 2>/dev/null)" != "$_made_of" ] || return 0
	rm -f "$_note"
	write_config "$work/build-$karch" "$1"
	echo "$_made_of" >"$_note"
}

# build_commit [VARIANT]: symbols which a commit does not have yet are not missed
# in its configuration.
build_commit() {
	tree=$work/linux variant=${1:-patched}
	of_machine "$variant"
	write_new_config "$variant"
	# shellcheck disable=SC2046
	series_make KCFLAGS=-Werror $(targets)
}

# What a step is made of, as the last commit's objects have it. They take longer
# than the whole step, and begin slowly.
no_string_instructions() {
	for _object in sframe sframe_packed sframe_callchain; do
		objdump -d --no-show-raw-insn \
			"$work/build-x86/kernel/unwind/$_object.o"
	done >"$work/step"
	grep -q '<sframe_step>:' "$work/step" &&
		! grep -E '[[:space:]]rep(n?z|n?e)? ' "$work/step"
}

check_result() {
	verdict "a step has no string instructions" no_string_instructions
	sparse=$cache/sparse-$(hash16 <"$top/tools/series-build.sh")
	verdict "objtool has no complaint with UBSAN" build_commit objtool
	verdict "build without the series' options" build_commit unpatched
	verdict "build for arm64" build_commit aarch64
	verdict "build for s390" build_commit s390x
	[ -d "$sparse" ] || step sparse "unpacking sparse" unpack_sparse
	verdict "sparse finds a planted error" sparse_finds_planted
	verdict "sparse has no complaint" sparse_clean
	verdict "tools/testing/vma" vma_tests
}

# Older ones than forky's cannot read 7.3's headers.
unpack_sparse() {
	private_apt forky
	rm -rf "$sparse.tmp"
	unpack "$sparse.tmp" sparse libc6
	private_command "$sparse.tmp" sparse usr/bin/sparse
	mv "$sparse.tmp" "$sparse"
}

# Of complaints, those about lines that are not the base's: git marks these,
# the first commit's, with ^.
of_series() {
	while IFS=: read -r _file _line _what; do
		_blame=$(git_kernel "$work/linux" blame -s \
			-L "$_line,$_line" -- "$_file")
		case $_blame in
		^*) ;;
		*) echo "$_file:$_line:$_what" ;;
		esac
	done
}

# check_by_sparse VARIANT [TARGET...]: by default what the series touches.
check_by_sparse() {
	build_commit "$1"
	shift
	# shellcheck disable=SC2046
	[ $# -gt 0 ] || set -- $(targets)
	series_make C=2 CHECK="$sparse/sparse" "$@" 2>&1
}

complaints() {
	grep -F -f "$work/touched" | grep -E ' (warning|error): ' |
		sort -u >"$work/all-complaints" || :
	of_series <"$work/all-complaints" >"$work/complaints"
	cat "$work/complaints"
}

run_sparse() {
	for _v in patched aarch64 s390x; do
		check_by_sparse $_v
	done | complaints
}

sparse_finds_planted() {
	_victim=$work/linux/kernel/unwind/user.c
	cp "$_victim" "$work/victim"
	rm "$_victim"
	{
		cat "$work/victim"
		echo 'int planted(int __user *p); int planted(int __user *p)'
		echo '{ return *p; }'
	} >"$_victim"
	check_by_sparse patched kernel/unwind/user.o | complaints
	cp "$work/victim" "$_victim"
	grep -q 'kernel/unwind/user.c.*noderef' "$work/complaints"
}

sparse_clean() {
	run_sparse
	[ ! -s "$work/complaints" ]
}

vma_tests() {
	make -C "$work/linux/tools/testing/vma" -j"$jobs"
	(cd "$work/linux/tools/testing/vma" && ./vma)
}
