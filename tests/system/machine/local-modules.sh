#!/bin/sh
# SPDX-License-Identifier: MIT
# SPDX-FileCopyrightText: 2026 The sfjit authors
#
# Description: tools/kernel-package --config=running keeps the modules that are
# loaded, with what they need, and no others.

# shellcheck source=tests/lib/tap.sh
. "$(dirname "$0")/../../lib/tap.sh"
cache=${XDG_CACHE_HOME:-$HOME/.cache}/sfjit
running=$cache/kernel-package-running/obj/.config

# A machine with Debian's kernel for virtual machines, of which xfs and the network
# are in use: the first needs two modules, the second, failover.
machine=$tmp/proc
mkdir "$machine"
works "Debian's configuration" tools/kernel-package --config=cloud --estimate
[ $failed = 0 ] || finish
cp "$cache/kernel-package-cloud/obj/.config" "$tmp/config"
gzip -c "$tmp/config" >"$machine/config.gz"
cat >"$machine/modules" <<'END'
xfs 2400256 1 - Live 0x0000000000000000
virtio_net 98304 0 - Live 0x0000000000000000
net_failover 24576 1 virtio_net, Live 0x0000000000000000
failover 16384 1 net_failover, Live 0x0000000000000000
END
works "the configuration of such a machine" \
	env "SFJIT_PROC=$machine" tools/kernel-package --config=running --estimate
[ $failed = 0 ] || finish

# option FILE NAME: what it is there
option() { sed -n "s/^CONFIG_$2=//p" "$1"; }
for name in XFS_FS VIRTIO_NET NET_FAILOVER BTRFS_FS NFS_FS; do
	is "$name was a module" m "$(option "$tmp/config" $name)"
done
for name in XFS_FS VIRTIO_NET NET_FAILOVER; do
	is "$name: kept" m "$(option "$running" $name)"
done
for name in BTRFS_FS NFS_FS; do
	is "$name: gone" "" "$(option "$running" $name)"
done
modules() { grep -c '=m$' "$1"; }
is "a tenth of the modules, at most" yes \
	"$([ "$(modules "$running")" -le $(($(modules "$tmp/config") / 10)) ] &&
		echo yes || modules "$running")"
for name in $(sed -n 's/^CONFIG_\([A-Z_]*\)=y$/\1/p' tools/config/sframe.config); do
	is "$name is on" y "$(option "$running" "$name")"
done
finish
