#!/bin/sh
# SPDX-License-Identifier: MIT
# SPDX-FileCopyrightText: 2026 The sfjit authors
#
# In the guest, as root: installs the packages of build/tests/packages, uses them,
# and looks for what is left when they are removed.

# shellcheck source=tests/lib/tap.sh
. "$(dirname "$0")/../../lib/tap.sh"
packages=$O/tests/packages
# Not those of this tree, which the guest has in its path.
PATH=/usr/sbin:/usr/bin:/sbin:/bin
unset PYTHONPATH LD_LIBRARY_PATH
names="libsfjit0 libsfjit-dev libsfjit-stacks0 sfjit-tools python3-sfjit"

# What dpkg and ld.so keep of their own work has the same names before.
listing() {
	find / -xdev \( -path "$top" -o -path /proc -o -path /tmp -o -path /root \) \
		-prune -o -print | grep -v -e '^/var/lib/dpkg/info/format$' \
		-e '^/var/lib/dpkg/.*-old$' -e '^/var/cache/ldconfig' \
		-e '^/var/log/dpkg.log$' | sort
}
listing >"$tmp/before"

work='def deep(n):
    return sum(range(20000)) if n == 0 else deep(n - 1)
for i in range(60):
    deep(20)'

# stacks: of the recording, as lines, first function last
stacks() {
	perf script -i "$tmp/perf.data" --no-inline -F comm,ip,sym 2>/dev/null |
		python3 -B "$top/tests/lib/perfscript.py" comm,ip,sym |
		sed -n '/^python3/p' >"$tmp/stacks"
}

# record COMMAND...: under perf
record() {
	perf record -q -e cpu-clock -F 249 --call-graph=fp \
		-o "$tmp/perf.data" -- "$@" >"$tmp/said" 2>&1 && stacks
}

# complete: whether there are stacks, and 95 % of those of running Python code end
# in _start. Others are of the start of the program, before it has tables.
complete() {
	awk '/_PyEval_EvalFrameDefault|_PyEval_Vector/ { all++; n += / _start *$/ }
		END { print n " of " all; exit !all || n < all * 0.95 }' \
		"$tmp/stacks"
}

# The commands of Documentation/profiling.rst, on a machine that has nothing of this
# before. perf writes its recording to standard output if that is a pipe.
# shellcheck disable=SC2016 # for the other shell
commands() {
	echo "dpkg --install $packages/sfjit-tools_*.deb"
	sed -n 's/^    \(perf record .* sfjit run -- \)COMMAND$/\1python3 -c "$work"/p
		s/^    \(perf script report flamegraph \)/\1/p' \
		Documentation/profiling.rst
}
three_commands() {
	(cd "$tmp" && work=$work sh -exc "$1" </dev/null >"$tmp/said" 2>&1) ||
		{ cat "$tmp/said"; return 1; }
}
is "profiling.rst: three commands" 3 "$(commands | wc -l)"
works "profiling.rst: the commands work" three_commands "$(commands)"
like "profiling.rst: what they say at last" "*dumping data to flamegraph.html" \
	"$(tail -n 1 "$tmp/said")"
perf script -i "$tmp/perf.data" --no-inline -F comm,pid,ip,sym \
	>"$tmp/script" 2>"$tmp/errors"
also python3 -B tests/sfjit/check_flamegraph.py "$tmp/flamegraph.html" \
	/usr/share/sfjit/flamegraph.html <"$tmp/script"
stacks
works "profiling.rst: stacks are complete" complete

works "installed" dpkg --install "$packages"/*.deb
like "the library is found by its name" "*libsfjit.so.0 *" "$(ldconfig -p)"
works "the commands are in PATH" test "$(command -v sfjit)" = /usr/bin/sfjit
export XDG_CACHE_HOME="$tmp/cache"
mkdir -m 700 "$XDG_CACHE_HOME"
sfjit doctor >"$tmp/doctor"
is "sfjit doctor: status" 0 $?
is "sfjit doctor: module" "ok module /usr/lib/sfjit/libsfjit-preload.so" \
	"$(sed -n '/ module /{s/  */ /g;p;}' "$tmp/doctor")"
is "a program with the library" 41 "$("$packages/hello")"

record python3 -c "$work"
is "without sfjit no stack is complete" 0 "$(grep -c ' _start *$' \
	"$tmp/stacks")"
# Without it there are samples of making the tables.
works "tables are in the cache" sfjit run -- python3 -c "import sfjit"
works "profiled under sfjit run" record sfjit run -- python3 -c "$work"
works "under sfjit run stacks are complete" complete
works "profiled with names" record sfjit run -- python3 -m sfjit -c "$work"
like "functions have names, each called by itself" "[1-9]*" "$(grep -c \
	'py::deep:[^ ]* .*py::deep:.* py::<module>:.* _start *$' "$tmp/stacks")"

# The cache of the system follows what packages change.
system=/var/cache/sfjit
is "dpkg tells of what changes in" "/usr/bin /usr/lib /usr/libexec /usr/sbin" \
	"$(sed -n 's|^\(/.*\) sfjit-tools.*|\1|p' /var/lib/dpkg/triggers/File |
		sort | xargs)"
trigger() {
	dpkg-trigger --no-await /usr/lib && dpkg --triggers-only sfjit-tools
}
works "no programs: the trigger works" trigger
works "no programs: and does nothing" test ! -e $system
cp /usr/bin/python3 /usr/bin/gone
works "tables for all users" sfjit cache --system python3 gone
rm -r "$XDG_CACHE_HOME/sfjit"
SFJIT_LOG=$tmp/log sfjit run -- python3 -c ""
is "tables for all users: are used" cache \
	"$(sed -n 's/.*source=\([a-z]*\).*/\1/p' "$tmp/log" | sort -u | xargs)"
(cd $system/tables && md5sum -- *) >"$tmp/sums"
rm $system/tables/* /usr/bin/gone
works "tables that are gone: the trigger works" trigger
works "tables that are gone: the trigger makes them" \
	sh -c "cd $system/tables && md5sum --quiet -c $tmp/sums"
is "a program that is gone: leaves the list" python3 "$(cat $system/programs)"

# deb VERSION FILE: a package with this file
deb() {
	rm -rf "$tmp/deb"
	mkdir -p "$tmp/deb/DEBIAN" "$tmp/deb/${2%/*}"
	echo "$1" >"$tmp/deb/$2"
	cat >"$tmp/deb/DEBIAN/control" <<-END
	Package: sfjit-upgraded
	Version: $1
	Architecture: all
	Maintainer: nobody <nobody@localhost>
	Description: has one file
	END
	dpkg-deb --build "$tmp/deb" "$tmp/upgraded.deb" >"$tmp/said"
}
# upgrade VERSION FILE NAME: are tables made by it that are gone?
upgrade() {
	deb "$1" "$2"
	rm -f $system/tables/*
	works "$3" dpkg --install "$tmp/upgraded.deb"
	works "$3: tables are made" \
		sh -c "cd $system/tables && md5sum --quiet -c $tmp/sums"
}
upgrade 1 usr/lib/sfjit-upgraded/library "a package is installed"
upgrade 2 usr/lib/sfjit-upgraded/library "a package is upgraded"
upgrade 3 usr/bin/sfjit-upgraded "a package is upgraded, with a program"
deb 4 usr/share/sfjit-upgraded/text
dpkg --install "$tmp/upgraded.deb" >"$tmp/said"
rm $system/tables/*
deb 5 usr/share/sfjit-upgraded/text
works "a package without programs is upgraded" \
	dpkg --install "$tmp/upgraded.deb"
is "a package without programs is upgraded: no tables" "" \
	"$(ls $system/tables)"
dpkg --purge sfjit-upgraded >"$tmp/said"
works "sframegen" sframegen --elf /usr/bin/python3 -o "$tmp/table"
works "sframegen: a table" test -s "$tmp/table"

# shellcheck disable=SC2086 # a list
works "removed" dpkg --remove $names
# shellcheck disable=SC2086
works "purged" dpkg --purge $names
listing >"$tmp/after"
same "nothing is left" "$tmp/before" "$tmp/after"
is "dpkg knows nothing of them" "" "$(dpkg-query -W -f '${Package}\n' |
	grep sfjit)"
finish
