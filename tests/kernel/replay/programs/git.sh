# SPDX-License-Identifier: MIT
# SPDX-FileCopyrightText: 2026 The sfjit authors
# shellcheck shell=sh

# A history of a tree that is about to be packed and searched.
export GIT_AUTHOR_NAME=a GIT_AUTHOR_EMAIL=a@b GIT_COMMITTER_NAME=a \
	GIT_COMMITTER_EMAIL=a@b
git init -q .
mkdir tree
for turn in 1 2 3 4 5 6; do
	for file in /sfjit/kernel-patches/linux/kernel/unwind/*.c \
		/sfjit/sframegen/lib/*.c; do
		sed "s/return/return $turn +/; ${turn}d" "$file" >"tree/${file##*/}"
	done
	git add -A
	git commit -q -m "turn $turn"
done
git repack -q -a -d -f --depth=50 --window=200 --threads=2
git log -p --stat -M -C --find-copies-harder
# shellcheck disable=SC2046 # words
git grep -n -E '(return|if).*\(' $(git rev-list --all)
git blame -M -C tree/sframe.c
git fsck --full
git archive HEAD | gzip -9 >archive.gz
git diff --word-diff HEAD~5
