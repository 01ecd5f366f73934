#!/bin/sh
# SPDX-License-Identifier: MIT
# SPDX-FileCopyrightText: 2026 The sfjit authors
#
# Which configuration of the machine tools/kernel-package takes, and what it says
# if there is none.  Directories of our own stand for /proc and /boot.

set -eu
# shellcheck source=tests/lib/tap.sh
. "$(dirname "$0")/../lib/tap.sh"
mkdir "$tmp/proc" "$tmp/boot"
release=$(uname -r)

# choose CONFIG: the last line of the file, or what is said
choose() {
	sh -euc '
		die() { echo "$*" >&2; exit 1; }
		. tools/running-config.sh
		proc=$1/proc boot=$1/boot
		file=$(config_file "$2")
		[ -z "$file" ] || print_config "$file" | tail -n 1
		has_modules && echo "with modules" || :' sh "$tmp" "$1" 2>&1 |
		sed "s|$tmp||g"
}

# config NAME: a configuration that says where it is from
config() { printf 'CONFIG_X86_64=y\nCONFIG_FROM="%s"\n' "$1"; }

for word in debian cloud small; do
	is "$word: no file" "" "$(choose $word)"
done
is "running: neither" "no configuration of the running kernel, neither \
/proc/config.gz nor /boot/config-$release" "$(choose running)"
config other >"$tmp/boot/config-other"
is "running: that of another kernel" "no configuration of the running kernel, \
neither /proc/config.gz nor /boot/config-$release" "$(choose running)"
config boot >"$tmp/boot/config-$release"
is "running: /boot" 'CONFIG_FROM="boot"' "$(choose running)"
config proc | gzip >"$tmp/proc/config.gz"
is "running: /proc comes first" 'CONFIG_FROM="proc"' "$(choose running)"
touch "$tmp/proc/modules"
is "running: a kernel with modules" 'CONFIG_FROM="proc"
with modules' "$(choose running)"
rm "$tmp/proc/modules"

is "a file" 'CONFIG_FROM="other"' "$(choose "$tmp/boot/config-other")"
is "a compressed file" 'CONFIG_FROM="proc"' "$(choose "$tmp/proc/config.gz")"
is "no file" "/none: no such file" "$(choose "$tmp/none")"
is "a directory" "/boot: no such file" "$(choose "$tmp/boot")"
: >"$tmp/empty"
is "an empty file" "/empty: is no configuration of a kernel" \
	"$(choose "$tmp/empty")"
head -c 20 "$tmp/proc/config.gz" >"$tmp/cut.gz"
is "a compressed file that was cut short" \
	"/cut.gz: is no configuration of a kernel" "$(choose "$tmp/cut.gz")"
echo CONFIG_ARM64=y >"$tmp/arm64"
is "another machine" "/arm64: is not for 64-bit x86" "$(choose "$tmp/arm64")"

# The command itself, which says so before it fetches anything.
said=$(tools/kernel-package --config="$tmp/empty" --estimate 2>&1) || :
is "the command" \
	"kernel-package: $tmp/empty: is no configuration of a kernel" "$said"
finish
