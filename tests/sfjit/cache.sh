#!/bin/sh
# SPDX-License-Identifier: MIT
# SPDX-FileCopyrightText: 2026 The sfjit authors
#
# Description: the cache of tables: used when it is right, never trusted, never
# needed.

# shellcheck source=tests/preload/own-tmp.sh
. "$(dirname "$0")/../preload/own-tmp.sh"
# shellcheck source=tests/lib/tap.sh
. "$(dirname "$0")/../lib/tap.sh"
# shellcheck source=tests/preload/lib.sh
. "$top/tests/preload/lib.sh"

hello=$run/hello
table=$(table_of hello)
name=$(basename "$table")

# source_is NAME WANT: the source of the table of 'hello' in this run.
source_is() {
	is "$1: output" hello "$(register "$hello")"
	is "$1" "$2" "$(logged /hello | sed 's/.*source=\([a-z]*\).*/\1/')"
}

source_is "first run" converted
source_is "second run" cache
is "mode of the directories" "700 700" \
	"$(stat -c %a "$XDG_CACHE_HOME/sfjit" "$tables" | tr '\n' ' ' |
	sed 's/ $//')"
is "mode of the table" 600 "$(stat -c %a "$table")"
if ! cp "$table" "$tmp/good"; then
	not_ok "name of the table" "there is no $table"
	finish
fi
size=$(wc -c <"$table")

# in_tmp NAME: it is kept there, for the user alone; removes it.
temporary=/tmp/sfjit-$(id -u)
in_tmp() {
	source_is "$1" converted
	is "$1: kept in /tmp" "700 700 600" "$(stat -c %a "$temporary" \
		"$temporary/tables" "$temporary/tables/$name" | xargs)"
	source_is "$1, again" cache
	rm -r "$temporary"
}

# The run that finds a damaged file replaces it.
repaired() {
	source_is "$1" converted
	same "$1: replaced" "$tmp/good" "$table"
	cp "$tmp/good" "$table"
}

for at in 0 1 40 $((size / 2)) $((size - 80)) $((size - 60)) $((size - 1)); do
	old=$(od -An -tu1 -j "$at" -N1 "$table")
	# shellcheck disable=SC2059 # an octal escape
	printf "\\$(printf %o $((old ^ 255)))" |
		dd of="$table" bs=1 seek="$at" conv=notrunc 2>/dev/null
	repaired "byte $at flipped"
done
for length in 0 1 27 $((size - 1)); do
	head -c "$length" "$tmp/good" >"$table"
	repaired "cut to $length bytes"
done
cat "$tmp/good" "$tmp/good" >"$table"
repaired "twice as long"
cp "$(find "$tables" -type f ! -name "$name" | head -n 1)" "$table"
repaired "table of another module"
chmod 620 "$table"
repaired "writable by others"
rm "$table" && mkfifo "$table"
repaired "FIFO"
rm "$table" && ln -s "$tmp/good" "$table"
repaired "symbolic link"

rm "$table" && mkdir "$table"
in_tmp "directory instead of the file"
rmdir "$table"
chmod 770 "$tables"
in_tmp "directory writable by others"
is "directory writable by others: not used" "" "$(find "$tables" -name "$name")"
chmod 700 "$tables"
if [ "$(id -u)" = 0 ]; then
	cp "$tmp/good" "$table" && chown 1 "$table"
	source_is "table of another user" converted
	rm -rf "$table" && chown 1 "$XDG_CACHE_HOME/sfjit"
	in_tmp "directory of another user"
	chown 0 "$XDG_CACHE_HOME/sfjit"
else
	skip "table of another user" "only root can make one"
fi
# The modification time marks files whose checksum was right.
nanoseconds() {
	stat -c %.9Y "$1" | sed 's/.*[.,]//'
}
source_is "right again, for its time" converted
sealed=$(nanoseconds "$table")
touch -d '2001-02-03 04:05:06.000000001' "$table"
source_is "of another time" cache
is "of another time: has that of its sum" "$sealed" "$(nanoseconds "$table")"
cp -p "$table" "$tmp/sealed"
printf x | dd of="$table" bs=1 seek=$((size / 2)) conv=notrunc 2>/dev/null
touch -r "$tmp/sealed" "$table"
source_is "of the right time: not summed" cache
touch "$table"
repaired "of another time: summed"

# After a reboot a sealed table is checked again.
echo 01234567-89ab-cdef-0123-456789abcdef >"$tmp/boot"
cat >"$tmp/rebooted" <<END
#!/bin/sh
exec unshare -m sh -c 'mount --bind "$tmp/boot" /proc/sys/kernel/random/boot_id &&
	exec "$sfjit" "\$@"' sh "\$@"
END
chmod +x "$tmp/rebooted"
if "$tmp/rebooted" --version >"$tmp/out" 2>&1; then
	source_is "sealed in this boot" cache
	sealed=$(nanoseconds "$table")
	this=$sfjit
	sfjit=$tmp/rebooted
	source_is "in another boot" cache
	works "in another boot: has another time" \
		test "$sealed" != "$(nanoseconds "$table")"
	cp -p "$table" "$tmp/sealed"
	sfjit=$this
	printf x | dd of="$table" bs=1 seek=$((size / 2)) conv=notrunc \
		2>/dev/null
	touch -r "$tmp/sealed" "$table"
	repaired "sealed in another boot: summed"
else
	skip "in another boot" "only root can make a mount namespace"
fi
rm "$table"
source_is "right again" converted
source_is "and used" cache
is "nothing else is left" "" "$(find "$tables" ! -name '*.packed' ! -path "$tables")"

# Whatever the kernel reads: the next one may read tables.
# shellcheck disable=SC2030,SC2031 # the subshell is for the environment
(
	export LD_PRELOAD="$run/formats.so"
	for FORMATS in 3 16; do
		export FORMATS
		source_is "a kernel that reads formats $FORMATS" cache
	done
	exit "$failed"
) || failed=1

# shellcheck disable=SC2030,SC2031 # the subshell is for the environment
(
	rm -rf "$XDG_CACHE_HOME/sfjit"
	chmod 500 "$XDG_CACHE_HOME"
	[ "$(id -u)" = 0 ] || in_tmp "read-only directory"
	chmod 700 "$XDG_CACHE_HOME"
	XDG_CACHE_HOME=$tmp/new//of/../cache/
	source_is "cache that does not exist, first run" converted
	is "cache that does not exist: its modes" "700 700" \
		"$(stat -c %a "$tmp/new" "$tmp/new/cache" | xargs)"
	is "cache that does not exist: place" "$tmp/new/cache/sfjit/tables/$name" \
		"$(find "$tmp/new" -name "$name")"
	source_is "cache that does not exist, second run" cache
	touch "$tmp/file"
	XDG_CACHE_HOME=$tmp/file/cache
	in_tmp "cache below a file"
	if [ "$(id -u)" = 0 ]; then
		mkdir "$tmp/theirs" && chown 1 "$tmp/theirs"
		XDG_CACHE_HOME=$tmp/theirs/cache
		in_tmp "cache below a directory of another user"
		is "cache below a directory of another user: not made" "" \
			"$(ls "$tmp/theirs")"
	fi
	XDG_CACHE_HOME=relative
	export HOME="$tmp/home"
	in_tmp "home that does not exist"
	is "home that does not exist: nor now" "" "$(find "$tmp" -name home)"
	mkdir "$HOME"
	source_is "home, first run" converted
	source_is "home, second run" cache
	is "home: place" "$HOME/.cache/sfjit/tables/$name" \
		"$(find "$HOME" -name "$name")"
	rm -rf "$HOME" && touch "$HOME"
	in_tmp "home that is a file"
	unset XDG_CACHE_HOME HOME
	in_tmp "no home"
	exit "$failed"
) || failed=1

# Tables in /tmp are not trusted either.
# shellcheck disable=SC2030,SC2031 # the subshell is for the environment
if [ -n "${own_tmp-}" ] && [ "$(id -u)" = 0 ]; then
	not_kept() {
		source_is "$1" converted
		source_is "$1, again" converted
		is "$1: not used" "" "$(find -L "$temporary/" -type f \
			2>/dev/null)"
		rm -rf "$temporary"
	}
	this=$sfjit
	cat >"$tmp/homeless" <<-END
	#!/bin/sh
	exec env -u HOME XDG_CACHE_HOME=relative "$sfjit" "\$@"
	END
	chmod +x "$tmp/homeless"
	sfjit=$tmp/homeless
	mkdir -m 700 "$temporary" && chown 1 "$temporary"
	not_kept "/tmp: a directory of another user"
	mkdir "$tmp/elsewhere" && ln -s "$tmp/elsewhere" "$temporary"
	not_kept "/tmp: a symbolic link"
	mkdir -m 770 "$temporary"
	not_kept "/tmp: a directory that others can write"
	chmod 777 /tmp
	not_kept "/tmp: others can move what is there"
	chmod 1777 /tmp
	sfjit=$this

	mkdir "$tmp/full"
	mount -t tmpfs -o mode=700,size=4k none "$tmp/full"
	head -c 4096 /dev/zero >"$tmp/full/file"
	(
		export XDG_CACHE_HOME="$tmp/full"
		in_tmp "a full disk"
		is "a full disk: nothing is left" "" \
			"$(find "$tmp/full" -name '*.packed*')"
		mount -o remount,ro "$tmp/full"
		in_tmp "a disk that is read-only"
	)
	umount "$tmp/full"
else
	skip "/tmp" "only root can make a mount namespace"
fi

# First runs at the same time.
# shellcheck disable=SC2031
rm -rf "$XDG_CACHE_HOME/sfjit"
i=0
while [ $i -lt 8 ]; do
	"$sfjit" run -o "$tmp/log.$i" -- "$hello" 2>"$tmp/err.$i" \
		>"$tmp/out.$i" &
	i=$((i + 1))
done
wait
is "8 at the same time: output" 8 "$(cat "$tmp"/out.? | grep -c '^hello$')"
is "8 at the same time: all modules" 8 \
	"$(cat "$tmp"/log.? | grep -c 'registered.*/hello ')"
is "8 at the same time: each table is made once" "" "$(cat "$tmp"/log.? |
	sed -n 's/.*registered \([^ ]*\).*source=converted.*/\1/p' |
	sort | uniq -d)"
same "8 at the same time: table" "$tmp/good" "$table"
is "8 at the same time: no leftovers" "" \
	"$(find "$tables" ! -name '*.packed' ! -path "$tables")"

# Another run is making the table: wait for it, then use it.
also python3 -B tests/sfjit/programs/locked.py "$sfjit" "$hello" "$table" "$tmp/good" \
	"$run/stop.so"
finish
