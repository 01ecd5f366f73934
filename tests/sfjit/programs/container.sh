#!/bin/sh
# SPDX-License-Identifier: MIT
# SPDX-FileCopyrightText: 2026 The sfjit authors
#
# usage: container.sh USER ROOT COMMAND [ARGUMENT]...
#
# As root: runs COMMAND as a user in its own user, PID and mount namespaces,
# where a copy of ROOT is /. No process outside sees its files. Files outside
# are in /old, for a process that enters. busybox is in this script's directory.

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
