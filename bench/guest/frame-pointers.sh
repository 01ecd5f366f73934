# SPDX-License-Identifier: MIT
# SPDX-FileCopyrightText: 2026 The sfjit authors
# shellcheck shell=sh disable=SC2034,SC2154
#
# Sourced by programs that run where everything has frame pointers. Puts the
# libraries of tools/frame-pointers, which are in build/tests/frame-pointers, in the
# place of Debian's: all at once, as the dynamic linker and libc must be of one build.

fp=$top/build/tests/frame-pointers
fp_flags=$(cat "$fp/flags")
export PYTHONHOME=/usr PYTHONPATH="$fp/python" PYTHONDONTWRITEBYTECODE=1

[ -e /tmp/frame-pointers ] || python3 - "$fp/lib" <<'END'
import os
import shutil
import sys

TO = '/usr/lib/x86_64-linux-gnu/'
names = os.listdir(sys.argv[1])
for name in names:
    shutil.copy(f'{sys.argv[1]}/{name}', f'{TO}{name}.new')
for name in names:
    os.rename(f'{TO}{name}.new', TO + name)
END
: >/tmp/frame-pointers
