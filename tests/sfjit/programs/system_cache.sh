#!/bin/sh
# SPDX-License-Identifier: MIT
# SPDX-FileCopyrightText: 2026 The sfjit authors
#
# As root, in its own mount namespace: sfjit cache --system, and users of its
# tables.

# shellcheck source=tests/lib/tap.sh
. "$(dirname "$0")/../../lib/tap.sh"
# shellcheck source=tests/preload/lib.sh
. "$top/tests/preload/lib.sh"
# shellcheck source=tests/preload/fill-lib.sh
. "$top/tests/preload/fill-lib.sh"

# A copy that all users can read, wherever this tree is.
chmod 755 "$tmp"
mkdir -p "$tmp/tree/bin" "$tmp/tree/lib"
cp "$sfjit" "$tmp/tree/bin"
cp -R "$O/lib/sfjit" "$tmp/tree/lib"
cp "$run/hello" "$run/loader" "$run/prefork" "$tmp/tree"
sfjit=$tmp/tree/bin/sfjit run=$tmp/tree

mount -t tmpfs -o mode=755 none /var/cache
system=/var/cache/sfjit
programs=$system/programs
own=$tables

# No umask may keep others from reading it.
umask 077
fills "the system's" 0 --system "$run/hello"
umask 022
is "the system's: its table" made "$(said hello)"
is "the system's: modes" "755 755 644 644" "$(stat -c %a "$system" \
	"$system/tables" "$system/tables/$(basename "$(table_of hello)")" \
	"$programs" | xargs)"
is "the system's: nobody else can lock it" 600 "$(stat -c %a "$system/lock")"
is "the system's: nothing is left beside it" "lock programs tables" \
	"$(find "$system" -maxdepth 1 -mindepth 1 -printf '%f\n' | sort | xargs)"
is "the system's: its programs" "$run/hello" "$(cat "$programs")"
sources "root uses it" cache
is "and makes no table" "" "$(find "$own" -type f 2>/dev/null)"
table=$system/tables/$(basename "$(table_of hello)")
cp -p "$table" "$tmp/good"

# source_is NAME WANT: the source of the table of hello
source_is() {
	is "$1: output" hello "$(register "$run/hello")"
	is "$1" "$2" "$(logged /hello | sed 's/.*source=\([a-z]*\).*/\1/')"
	rm -rf "$XDG_CACHE_HOME/sfjit"
}

# Another user.
chown 65534 "$XDG_CACHE_HOME"
cat >"$tmp/theirs" <<END
#!/bin/sh
exec setpriv --reuid=65534 --regid=65534 --clear-groups "$sfjit" "\$@"
END
chmod 755 "$tmp/theirs"
mkdir -m 777 "$tmp/logs"
this=$sfjit
log=$tmp/logs/log sfjit=$tmp/theirs
sources "anybody uses it" cache
source_is "anybody, hello" cache
touch "$table"
source_is "of another time: summed" cache
cp -p "$tmp/good" "$table"
printf x | dd of="$table" bs=1 seek=70 conv=notrunc 2>/dev/null
source_is "written to: not used" converted
cp -p "$tmp/good" "$table"
chown 65534 "$table"
source_is "a table of their own: not used" converted
chown 0 "$table"
chmod 664 "$table"
source_is "a table that others can write: not used" converted
chmod 644 "$table"
rm "$table"
ln -s "$tmp/good" "$table"
source_is "a symbolic link: not used" converted
rm "$table"
cp -p "$tmp/good" "$table"
for directory in $system $system/tables; do
	chown 65534 "$directory"
	source_is "$directory of theirs: not used" converted
	chown 0 "$directory"
	chmod 775 "$directory"
	source_is "$directory that others can write: not used" converted
	chmod 755 "$directory"
done
mv "$system/tables" "$tmp/moved"
ln -s "$tmp/moved" "$system/tables"
source_is "a directory that is a link: not used" converted
rm "$system/tables"
mv "$tmp/moved" "$system/tables"
source_is "right again" cache
"$sfjit" cache --system "$run/loader" >"$tmp/out" 2>"$tmp/err"
is "anybody cannot fill it: status" 1 $?
is "anybody cannot fill it: message" \
	"sfjit: $system/tables: Permission denied" "$(cat "$tmp/err")"
log=$tmp/log sfjit=$this
chown 0 "$XDG_CACHE_HOME"

# The list.
fills "a second program" 0 --system "$run/loader"
is "a second program: both are kept" "$run/hello
$run/loader" "$(cat "$programs")"
fills "all again" 0 --system
is "all again: are there" "there there" "$(said hello) $(said loader)"
cp "$run/prefork" "$tmp/gone"
fills "a third program" 0 --system "$tmp/gone"
third=$system/tables/$(basename "$(table_of prefork)")
works "a third program: its table" test -s "$third"
rm "$tmp/gone"
fills "a program that was removed" 1 --system
is "a program that was removed: message" "sfjit: $tmp/gone: not found" \
	"$(cat "$tmp/err")"
is "a program that was removed: is not in the list" "$run/hello
$run/loader" "$(cat "$programs")"
works "a program that was removed: its table is gone, too" \
	test ! -e "$third"
works "a program that was removed: others are not" test -s "$table"
for program in /bin/cat /bin/ls /bin/true; do
	"$sfjit" cache --system $program >"$tmp/out.$$" 2>&1 &
done
wait
is "three at the same time: all are in the list" "cat hello loader ls true" \
	"$(sed 's|.*/||' "$programs" | sort | xargs)"
mkdir -p "$tmp/bare/bin"
cp "$sfjit" "$tmp/bare/bin"
"$tmp/bare/bin/sfjit" cache --system >"$tmp/out" 2>"$tmp/err"
is "without the module: status" 125 $?
is "without the module: message" "sfjit: $tmp/bare/bin/../lib/sfjit/$(basename \
	"$preload"): No such file or directory" "$(cat "$tmp/err")"
works "without the module: no table is removed" test -s "$table"
rm "$table"
fills "a table that is missing" 0 --system
is "a table that is missing: is made" made "$(said hello)"

cp "$programs" "$tmp/list"
chmod 666 "$programs"
message "a list that others can write" 1 "sfjit: list of programs: belongs to \
another user, or others can write it" --system
chmod 644 "$programs"
chown 65534 "$programs"
message "a list of another user" 1 "sfjit: list of programs: belongs to \
another user, or others can write it" --system
chown 0 "$programs"
rm "$programs"
ln -s "$tmp/list" "$programs"
message "a list that is a link" 1 "sfjit: list of programs: Too many levels of \
symbolic links" --system
rm "$programs"
message "no list" 0 "" --system
is "no list: nothing is done" "" "$(cat "$tmp/out")"
works "no list: no table is removed" test -s "$table"

fills "cleaned" 0 --system --clean --mib=0
is "cleaned: no table is left" "" "$(find "$system/tables" -type f)"
umount /var/cache
finish
