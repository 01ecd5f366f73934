#!/bin/sh
# SPDX-License-Identifier: MIT
# SPDX-FileCopyrightText: 2026 The sfjit authors
#
# usage: unshare -m own_tmp.sh COMMAND [ARGUMENT]...
#
# Runs COMMAND with a /tmp that has only the directories of the test.

set -e
here=$(realpath "$0")
mount --bind /tmp /mnt
mount -t tmpfs -o mode=1777 none /tmp
for path in "$PWD" "$here" "${O:-build}" "${TMPDIR:-/tmp}"; do
	case $path in
	/tmp/*) name=${path#/tmp/} name=${name%%/*} ;;
	*) continue ;;
	esac
	[ ! -e "/tmp/$name" ] || continue
	mkdir "/tmp/$name"
	mount --bind "/mnt/$name" "/tmp/$name"
done
umount /mnt
cd "$PWD"
exec "$@"
