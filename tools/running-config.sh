# SPDX-License-Identifier: MIT
# SPDX-FileCopyrightText: 2026 The sfjit authors
# shellcheck shell=sh
#
# Which configuration of this machine tools/kernel-package takes.  Sourced after
# lib.sh.

# $SFJIT_PROC: for tests, which are another machine
proc=${SFJIT_PROC:-/proc} boot=/boot

# The running kernel's own comes first: /boot may have one of the same release
# that was built anew.
running_config() {
	for _f in "$proc/config.gz" "$boot/config-$(uname -r)"; do
		if [ -r "$_f" ]; then
			echo "$_f"
			return 0
		fi
	done
	die "no configuration of the running kernel, neither" \
		"$proc/config.gz nor $boot/config-$(uname -r)"
}

# print_config FILE: compressed by gzip, or not
print_config() { gzip -dcf "$1"; }

# check_file FILE: ends the script if it is no configuration for amd64.
check_file() {
	[ -f "$1" ] || die "$1: no such file"
	[ -r "$1" ] || die "$1: cannot be read"
	print_config "$1" 2>/dev/null | grep -aq '^CONFIG_[A-Z0-9_]*=' ||
		die "$1: is no configuration of a kernel"
	print_config "$1" | grep -qx 'CONFIG_X86_64=y' ||
		die "$1: is not for 64-bit x86"
}

# config_file CONFIG: prints the file here that --config=CONFIG is about; nothing,
# if there is none.
config_file() {
	_file=
	case $1 in
	debian | cloud | small) return 0 ;;
	running) _file=$(running_config) || exit 1 ;;
	*) _file=$1 ;;
	esac
	check_file "$_file"
	echo "$_file"
}

# has_modules: the running kernel, and so it says which are loaded.
has_modules() { [ -r "$proc/modules" ]; }
