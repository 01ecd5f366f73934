#!/bin/sh
# SPDX-License-Identifier: MIT
# SPDX-FileCopyrightText: 2026 The sfjit authors
#
# usage: container.sh USER ROOT COMMAND [ARGUMENT]...
#
# By root: COMMAND of a user in a user, a PID and a mount namespace of their own,
# where a copy of ROOT is /. No process outside sees its files. Those outside are in
# /old, for who enters. busybox lies beside this script.

set -eu
if [ -z "${CONTAINER:-}" ]; then
	export CONTAINER=yes
	exec setpriv "--reuid=$1" "--regid=$1" --clear-groups --inh-caps=-all \
		unshare --user --map-root-user --pid --fork --kill-child \
		--mount "$0" "$@"
fi
root=$2
shift 2
busybox=${0%/*}/busybox
"$busybox" mount -t tmpfs none /mnt
cp -r "$root/." /mnt
cd /mnt
mkdir old proc
"$busybox" mount -t proc none proc
pivot_root . old
cd /
exec "$@"
