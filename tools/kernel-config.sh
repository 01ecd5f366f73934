# SPDX-License-Identifier: MIT
# SPDX-FileCopyrightText: 2026 The sfjit authors
# shellcheck shell=sh
#
# What a configuration of the kernel has to say.  Sourced after lib.sh.

# assert_config FRAGMENT CONFIG: Kconfig drops silently what it cannot satisfy.
assert_config() {
	_lost=$(sed -n 's/^# \(CONFIG_[A-Z0-9_]*\) is not set/\1=n/
		/^CONFIG_/p' "$1" | while read -r _line; do
		case $_line in
		*=n) ! grep -q "^${_line%n}[ym]" "$2" || echo "$_line" ;;
		*) grep -qxF "$_line" "$2" || echo "$_line" ;;
		esac
	done)
	[ -z "$_lost" ] || { say "configuration lost:" "$_lost"; exit 1; }
}
