# SPDX-License-Identifier: MIT
# SPDX-FileCopyrightText: 2026 The sfjit authors
# shellcheck shell=sh
#
# The series of kernel-patches/ applied to a tree, one after the other.
# kernel-patches/series names all commits in their order, as SERIES/NAME;
# kernel-patches/SERIES has a cover letter, and a directory for each commit;
# `tests' has no letter: it is not to be mailed.  A commit has
#   message     subject and body
#   edit.patch  edits of existing files, also of those that an earlier commit
#               adds (optional)
#   files       new files, paths under kernel-patches/linux, a directory
#               stands for all in it (optional)
# kernel-patches/linux has them as they are in the end: where a file is added,
# what later commits edit in it is undone.
# Sourced after lib.sh.

patches=$top/kernel-patches

commits() {
	sed "s|^|$patches/|" "$patches/series"
}

# The stacked series, in their order.
stacked() { sed 's|/.*||' "$patches/series" | uniq; }

# new_files COMMIT: what its `files' names, directories expanded.
new_files() {
	[ -f "$1/files" ] || return 0
	(cd "$patches/linux" && xargs -r -d '\n' sh -c \
		'find "$@" -type f' sh) <"$1/files" | sed 's|//*|/|g'
}

edited_files() {
	[ -f "$1/edit.patch" ] || return 0
	sed -n 's|^+++ b/\([^	]*\).*|\1|p' "$1/edit.patch"
}

touched_files() {
	for _commit in $(commits); do
		new_files "$_commit"
		edited_files "$_commit"
	done | sort -u
}

# What of the series gets into a kernel image.
series_id() {
	(
		cd "$patches" || exit
		find series ./*/*/edit.patch linux -type f \
			! -path 'linux/tools/*' ! -path 'linux/Documentation/*' |
			sort | xargs -d '\n' sha256sum
		cat ./*/*/files | grep -v -e ^tools/ -e ^Documentation/
	) | hash16
}

# later_commits COMMIT: those behind it, the last one first.
later_commits() { commits | sed "1,\\|^$1\$|d" | tac; }

# undo_later COMMIT TREE: to the files that COMMIT adds.
undo_later() {
	for _later in $(later_commits "$1"); do
		[ -f "$_later/edit.patch" ] || continue
		new_files "$1" | awk '
			NR == FNR { new[$0]; next }
			/^--- / { head = $0; next }
			/^[+][+][+] / {
				wanted = substr($2, 3) in new
				if (wanted)
					print head
			}
			wanted' - "$_later/edit.patch" |
			patch -d "$2" -p1 -s -R --fuzz=0 --no-backup-if-mismatch
	done
}

# apply_commit COMMIT TREE
apply_commit() {
	if [ -f "$1/edit.patch" ]; then
		echo "applying ${1##*/}"
		patch -d "$2" -p1 -s --fuzz=0 --no-backup-if-mismatch \
			<"$1/edit.patch"
	fi
	new_files "$1" | tar -C "$patches/linux" -cf - -T - | tar -C "$2" -xmf -
	undo_later "$1" "$2"
}

apply_series() {
	for _commit in $(commits); do
		apply_commit "$_commit" "$1"
	done
}

# copy_files FROM TO <LIST: those of LIST which FROM has.
copy_files() {
	while read -r _f; do
		[ ! -f "$1/$_f" ] || echo "$_f"
	done | tar -C "$1" -cf - -T - | tar -C "$2" -xf -
}

# patched_tree: $tree is the base with the series applied.  It lives on from
# one state of the series to the next and only files whose content changed are
# written, so that make builds little.  Hold the lock of lock_tree.
patched_tree() {
	tree=$cache/patched-$(cat "$base/id")/linux
	_state=${tree%/linux}
	[ -d "$tree" ] || copy_base
	rm -rf "$_state/new"
	mkdir "$_state/new"
	touched_files >"$_state/touched.new"
	copy_files "$base/linux" "$_state/new" <"$_state/touched.new"
	apply_series "$_state/new"
	sort -u "$_state/touched" "$_state/touched.new" | while read -r _f; do
		settle_file "$_f"
	done
	mv "$_state/touched.new" "$_state/touched"
}

# Hard links make the copy cheap; a writer must therefore replace a file.
copy_base() {
	rm -rf "$_state"
	mkdir -p "$_state"
	cp -al "$base/linux" "$tree.tmp"
	: >"$_state/touched"
	mv "$tree.tmp" "$tree"
}

# settle_file PATH: as the series wants it, else as in the base, else gone.
settle_file() {
	_want=$_state/new/$1
	[ -f "$_want" ] || _want=$base/linux/$1
	if [ ! -f "$_want" ]; then
		rm -f "$tree/$1"
	elif ! cmp -s "$_want" "$tree/$1"; then
		mkdir -p "$(dirname "$tree/$1")"
		cp --remove-destination "$_want" "$tree/$1"
	fi
}

# One process at a time works on the patched tree and the build directories.
lock_tree() {
	mkdir -p "$cache"
	exec 7>"$cache/.tree.lock"
	flock -n 7 || { say "  waiting for another build"; flock 7; }
}

unlock_tree() { exec 7>&-; }
