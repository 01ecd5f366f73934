# SPDX-License-Identifier: MIT
# SPDX-FileCopyrightText: 2026 The sfjit authors
# shellcheck shell=sh

# shellcheck disable=SC2016 # gdb's
exec gdb -batch -ex 'set breakpoint pending on' -ex 'break sqlite3_open_v2' \
	-ex 'info functions ^str' -ex 'disassemble malloc' -ex run -ex bt \
	-ex 'info sharedlibrary' -ex 'info functions ^sqlite3_' -ex finish \
	-ex 'disassemble sqlite3_prepare_v2' -ex 'x/3000i $pc' \
	-ex 'python print(sum(len(str(x)) for x in range(100000)))' \
	/usr/bin/sqlite3 </dev/null
