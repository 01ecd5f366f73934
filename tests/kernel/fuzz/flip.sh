#!/bin/sh
# SPDX-License-Identifier: MIT
# SPDX-FileCopyrightText: 2026 The sfjit authors
#
# Every bit of the sections of our trampolines and of the loader, and some of
# libc's; with SFJIT_FUZZ_FLIP=all every bit of libc's and python's, too.

set -eu
# shellcheck source=tests/lib/tap.sh
. "$(dirname "$0")/../../lib/tap.sh"

tools/make -s build/tests/kernel/fuzz/kernel-flip build/bin/sframegen \
	build/gen/sfjit_trampoline.h

# flip NAME FILE [PART OF]
flip() {
	_name=$1
	shift
	if _said=$("$O/tests/kernel/fuzz/kernel-flip" "$@" 2>&1); then
		ok "flipped bits of $_name: $_said"
	else
		not_ok "flipped bits of $_name" "$(echo "$_said" |
			grep -m 1 -E 'finding|ERROR|runtime' || echo "$_said")"
	fi
}

tests/kernel/fuzz/kernel/templates "$O/gen/sfjit_trampoline.h" "$tmp"
for section in "$tmp"/*; do
	flip "${section##*/}" "$section"
done

# convert NAME [PART OF]: a library of the host.
convert() {
	_file=$(${CC:-gcc} -print-file-name="$1")
	"$O/bin/sframegen" --elf "$_file" -o "$tmp/$1" >/dev/null
	_library=$1
	shift
	flip "$_library $*" "$tmp/$_library" "$@"
}

convert ld-linux-x86-64.so.2
if [ "${SFJIT_FUZZ_FLIP:-}" = all ]; then
	convert libc.so.6
	python=$(command -v python3)
	"$O/bin/sframegen" --elf "$python" -o "$tmp/python" >/dev/null
	flip python "$tmp/python"
else
	convert libc.so.6 5 16
fi
finish
