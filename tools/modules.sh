# SPDX-License-Identifier: MIT
# SPDX-FileCopyrightText: 2026 The sfjit authors
# shellcheck shell=sh
#
# copy_modules DIRECTORY: copies the files that samples in its .txt files hit to
# root/ there, for their .eh_frame.  Runs in the guest.

copy_modules() {
	mkdir -p "$1/root"
	cat "$1"/*.txt 2>/dev/null | sampled_files |
		while read -r _file; do
			case $_file in /tmp/perf-*.map) continue ;; esac
			[ ! -f "$_file" ] ||
				cp -L --parents "$_file" "$1/root"
		done
}

# The lines are many: sed takes minutes where the machine is emulated.
sampled_files() {
	awk '/^\t/ && sub(/\+0x[0-9a-f]*\)$/, "", $NF) && $NF ~ /^\(\// &&
		!seen[$NF]++ { print substr($NF, 2) }'
}
