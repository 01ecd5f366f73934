#!/bin/sh
# SPDX-License-Identifier: MIT
# SPDX-FileCopyrightText: 2026 The sfjit authors
#
# Description: sfjit cache makes the tables that sfjit run makes, of programs,
# libraries and directories, also of hostile files; it keeps the cache within its
# bounds; and that of the system is used if it is root's, and only then.

# shellcheck source=tests/preload/own-tmp.sh
. "$(dirname "$0")/../preload/own-tmp.sh"
# shellcheck source=tests/lib/tap.sh
. "$(dirname "$0")/../lib/tap.sh"
# shellcheck source=tests/preload/lib.sh
. "$top/tests/preload/lib.sh"
# shellcheck source=tests/preload/fill-lib.sh
. "$top/tests/preload/fill-lib.sh"

sources "a run makes its tables" converted
cp -R "$tables" "$tmp/of-run"
rm -r "$XDG_CACHE_HOME/sfjit"
fills "a program" 0 "$run/hello"
is "a program: is not run" "" "$(grep hello "$tmp/out" | grep -v ^made)"
is "a program: its table" made "$(said hello)"
is "a program: its libraries" "made made" "$(said libc.so.6) $(said 'ld-linux[^ ]*')"
is "a program: the vDSO" made "$(said '\[vdso\]')"
# Runs write a jump into ld.so, which the file does not have.
loader=$(sed -n 's/^made.* \(.*ld-linux.*\)/\1/p' "$tmp/out")
rm "$tmp/of-run/$(readelf -n "$loader" | sed -n 's/.*Build ID: //p').packed"
for table in "$tmp/of-run"/*; do
	same "a program: the same as of a run: $(basename "$table")" "$table" \
		"$tables/$(basename "$table")"
done
sources "a run finds all of them" cache
fills "again" 0 "$run/hello"
is "again: all are there" there "$(cut -d ' ' -f 1 "$tmp/out" | sort -u)"
is "again: no message" "" "$(cat "$tmp/err")"

PATH=$run:$PATH
fills "from PATH" 0 hello
is "from PATH: found" there "$(said hello)"
printf '#!%s\n' "$run/hello" >"$tmp/script"
chmod +x "$tmp/script"
fills "a script" 0 "$tmp/script"
is "a script: its interpreter" there "$(said hello)"
mkdir "$tmp/plugins"
cp "$run/plugin1.so" "$run/plugin2.so" "$tmp/plugins"
chmod -x "$tmp/plugins/plugin1.so"
echo "GROUP ( libc.so.6 )" >"$tmp/plugins/plugin3.so"
fills "a library" 0 "$tmp/plugins/plugin1.so"
is "a library: its table" made "$(said plugin1.so)"
mkdir "$tmp/many"
python3 -B - "$run/plugin-gap.so" "$tmp/many/plugin-gap.so" <<'END'
import struct
import sys
with open(sys.argv[1], 'rb') as file:
    data = bytearray(file.read())
at, = struct.unpack_from('<Q', data, 32)
size, number = struct.unpack_from('<HH', data, 54)
headers = data[at:at + size * number] + bytes(size * 400)
data += bytes(-len(data) % 8)
struct.pack_into('<Q', data, 32, len(data))
struct.pack_into('<H', data, 56, number + 400)
with open(sys.argv[2], 'wb') as file:
    file.write(data + headers)
END
fills "400 program headers more" 0 "$tmp/many/plugin-gap.so"
is "400 program headers more: its table" made "$(said plugin-gap.so)"
fills "a directory" 0 "$tmp/plugins"
is "a directory: its libraries" "there made" \
	"$(said plugin1.so) $(said plugin2.so)"
is "a directory: nothing else" "" "$(said plugin3.so)"

message "no such program" 1 "sfjit: no-such: not found" no-such
message "no ELF" 1 "sfjit: /etc/passwd: is not ELF" /etc/passwd
message "no program" 1 "sfjit: $tmp/log: is not ELF" "$tmp/log"
message "no such directory" 1 "sfjit: $tmp/none/: not found" "$tmp/none/"
mkfifo "$tmp/fifo"
message "a FIFO" 1 "sfjit: $tmp/fifo: is not ELF" "$tmp/fifo"
sed 's/libc\.so\.6/libz.so.6/' "$run/hello" >"$tmp/lacking"
chmod +x "$tmp/lacking"
message "a library that is missing" 1 \
	"sfjit: $tmp/lacking: ld.so does not find all of its libraries" \
	"$tmp/lacking"
is "a library that is missing: the program" "there" "$(said lacking)"

# Malformed files: messages appear in order, and the tables of the others are
# made.
size=$(wc -c <"$run/plugin2.so")
for at in $(seq 0 16 1008) cut; do
	cp "$run/plugin2.so" "$tmp/hostile.so"
	if [ "$at" = cut ]; then
		head -c $((size / 3)) "$run/plugin2.so" >"$tmp/hostile.so"
	else
		printf '\377\377\377\177\377\377' | dd of="$tmp/hostile.so" \
			bs=1 seek="$at" conv=notrunc 2>/dev/null
	fi
	"$sfjit" cache "$run/hello" "$tmp/hostile.so" >"$tmp/out" 2>"$tmp/err"
	status=$?
	case "$status $(said hello) $(grep -vc "^sfjit: .*hostile.so: " \
		"$tmp/err")" in
	"[01] there 0") ;;
	[01]" there 0") ;;
	*) echo "$at: $status $(cat "$tmp/err")" ;;
	esac
done >"$tmp/lies"
is "headers that lie" "" "$(cat "$tmp/lies")"

chmod 770 "$tables"
message "a cache that others can write" 1 \
	"sfjit: $tables: belongs to another user, or others can write it" \
	"$run/hello"
chmod 700 "$tables"
env -u HOME XDG_CACHE_HOME=relative "$sfjit" cache hello >"$tmp/out" \
	2>"$tmp/err"
is "no home: status" 1 $?
is "no home: message" "sfjit: neither XDG_CACHE_HOME nor HOME is set to a path" \
	"$(cat "$tmp/err")"

# Limits: used one, two (by an earlier version) and three days ago; one being
# written, one abandoned.
rm "$tables"/*
for table in 1.packed 2.sframe 3.packed; do
	head -c 1048576 /dev/zero >"$tables/$table"
	touch -d "${table%.*} days ago" "$tables/$table"
done
touch "$tables/4.packed.1.2" "$tables/other"
touch -d "2 hours ago" "$tables/5.sframe.1.2" "$tables/another"
ln -s other "$tables/6.packed"
touch -h -d "9 days ago" "$tables/6.packed"
mkdir "$tables/7.packed"
left() {
	find "$tables" -mindepth 1 -printf '%f\n' | sort | xargs
}
fills "clean" 0 --clean
is "clean: says" "removed 1 tables, 0 bytes; 3145728 bytes are left" \
	"$(cat "$tmp/out")"
is "clean: what nobody writes any more is gone" \
	"1.packed 2.sframe 3.packed 4.packed.1.2 6.packed 7.packed another other" \
	"$(left)"
touch -a "$tables/3.packed"
fills "clean, 2 MiB" 0 --clean --mib=2
is "clean, 2 MiB: what was not used for the longest time is gone" \
	"1.packed 3.packed 4.packed.1.2 6.packed 7.packed another other" "$(left)"
fills "clean, 2 days" 0 --clean --days=2
is "clean, 2 days: nothing is so old" \
	"1.packed 3.packed 4.packed.1.2 6.packed 7.packed another other" "$(left)"
touch -d "2 days ago" "$tables/3.packed"
fills "clean, 2 days, again" 0 --clean --days=2
is "clean, 2 days, again: one was" \
	"1.packed 4.packed.1.2 6.packed 7.packed another other" "$(left)"
fills "clean, 0 MiB" 0 --clean --mib=0
is "clean, 0 MiB: no table is left" "4.packed.1.2 6.packed 7.packed another other" \
	"$(left)"

# sfjit run does so once a day.
rm -f "$tables/../cleaned"
# tends DAYS: prints how many tables are left of one unused for so long.
tends() {
	echo >"$tables/old.packed"
	touch -d "$1 days ago" "$tables/old.packed"
	"$sfjit" run -- true >"$tmp/out" 2>&1
	find "$tables" -name old.packed | wc -l
}
is "clean, by itself: the first time" 0 "$(tends 91)"
is "clean, by itself: not again" 1 "$(tends 91)"
touch -d "25 hours ago" "$tables/../cleaned"
is "clean, by itself: the next day" 0 "$(tends 91)"
touch -d "25 hours ago" "$tables/../cleaned"
is "clean, by itself: what was used" 1 "$(tends 89)"
rm -r "$XDG_CACHE_HOME/sfjit"
message "clean: no cache" 1 \
	"sfjit: $XDG_CACHE_HOME/sfjit: No such file or directory" --clean

message "a static program" 1 \
	"sfjit: $run/hello-static: is statically linked" "$run/hello-static"
if unshare -m true 2>/dev/null; then
	also unshare -m tests/sfjit/programs/system_cache.sh
else
	skip "the system's cache" "only root can make a mount namespace"
fi

for arguments in "" "--days=1 hello" "--clean hello" "--clean --days=x" \
	"--clean --mib=-1" "--wrong"; do
	# shellcheck disable=SC2086 # words
	fills "usage '$arguments'" 125 $arguments
done
finish
