# SPDX-License-Identifier: MIT
# SPDX-FileCopyrightText: 2026 The sfjit authors
# shellcheck shell=sh
#
# The series as git commits.  Sourced after kernel-tree.sh.

# What the series may touch, and what checkpatch looks into; to add the whole
# tree would take minutes.
tracked="Documentation LICENSES MAINTAINERS arch/Kconfig arch/arm64 arch/s390
arch/x86 fs/exec.c fs/proc include init kernel lib mm tools/testing"

git_kernel() {
	_git=$1
	shift
	GIT_AUTHOR_DATE='2026-01-01T00:00:00Z' \
	GIT_COMMITTER_DATE='2026-01-01T00:00:00Z' git -C "$_git" \
		-c user.name='sfjit authors' -c user.email=sfjit@example.org \
		-c commit.gpgSign=false -c core.autocrlf=false -c gc.auto=0 \
		"$@"
}

# git_tree DIR: the base as branch `base', the series on top as `series'.
git_tree() {
	[ ! -e "$1" ] || { say "$1 exists, remove it first"; exit 1; }
	mkdir -p "$(dirname "$1")"
	cp -a "$base/linux" "$1.tmp"
	git_base "$1.tmp"
	for _commit in $(commits); do
		git_commit "$_commit" "$1.tmp"
	done
	mv "$1.tmp" "$1"
}

git_base() {
	git_kernel "$1" init -q -b base
	git_exclude >"$1/.git/info/exclude"
	# shellcheck disable=SC2086
	git_kernel "$1" add -f $tracked
	git_kernel "$1" commit -q -m "Linux $(kernel_version "$1")"
	git_kernel "$1" checkout -q -b series
}

# Only the tracked part is looked at for new files.
git_exclude() {
	echo '/*'
	for _t in $tracked; do
		case $_t in
		*/*) printf '!/%s/\n/%s/*\n' "${_t%/*}" "${_t%/*}" ;;
		esac
		echo "!/$_t"
	done
}

git_commit() {
	apply_commit "$1" "$2"
	{ new_files "$1"; edited_files "$1"; } |
		(cd "$2" && xargs -d '\n' git add -f --)
	git_kernel "$2" commit -q -F "$1/message"
}
