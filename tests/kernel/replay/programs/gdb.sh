# SPDX-License-Identifier: MIT
# SPDX-FileCopyrightText: 2026 The sfjit authors
# shellcheck shell=sh

# shellcheck disable=SC2016 # gdb's
exec gdb -batch -ex 'set breakpoint pending on' -ex 'break malloc' \
	-ex 'info functions ^str' -ex run -ex bt -ex 'disassemble malloc' \
	-ex 'info sharedlibrary' -ex 'info functions ^sqlite3_' -ex finish \
	-ex 'x/3000i $pc' \
	-ex 'python print(sum(len(str(x)) for x in range(100000)))' \
	/usr/bin/sqlite3 </dev/null
