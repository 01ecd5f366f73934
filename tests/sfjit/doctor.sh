#!/bin/sh
# SPDX-License-Identifier: MIT
# SPDX-FileCopyrightText: 2026 The sfjit authors
#
# Description: sfjit doctor on a kernel without windows: each finding, after its
# subject was broken. tests/system/guest/doctor.sh has those that need a guest.

# shellcheck source=tests/lib/tap.sh
. "$(dirname "$0")/../lib/tap.sh"
# shellcheck source=tests/preload/lib.sh
. "$top/tests/preload/lib.sh"
# shellcheck source=tests/sfjit/doctor-lib.sh
. "$top/tests/sfjit/doctor-lib.sh"

# perf VERSION PRINTED: the one in PATH
perf() {
	mkdir -p "$tmp/bin"
	cat >"$tmp/bin/perf" <<END
#!/bin/sh
[ "\$*" = version ] && echo "perf version $1"
case \$* in *"--call-graph=fp,defer "*) echo "  $2    1" ;; esac
END
	chmod +x "$tmp/bin/perf"
}
PATH=$tmp/bin:$PATH
perf 7.3 defer_callchain
level=$(cat /proc/sys/kernel/perf_event_paranoid)
remedy="let perf_event_open() pass seccomp, or have CAP_PERFMON"
[ "$level" -le 2 ] || remedy="sysctl kernel.perf_event_paranoid=2"

mkdir -p "$tables"
chmod 700 "$XDG_CACHE_HOME/sfjit" "$tables"
touch "$tables/1.packed" "$tables/2.packed" "$tables/3.sframe"

fix="boot a kernel with the patches and UNWIND_USER_SFRAME=y"
case "$(uname -m) $(uname -r)" in
"x86_64 6.1."* | "x86_64 6.12."*)
	fix="install sfjit-dkms and linux-headers-$(uname -r)" ;;
esac

# Do not depend on what this machine lets its users profile.
examine "$filter" perf 1
sed "s/room for [0-9]* MiB/room for ROOM MiB/" "$tmp/doctor" >"$tmp/text"
cat >"$tmp/want" <<END
broken  kernel   Linux $(uname -r) knows no SFrame windows
                 code without frame pointers truncates stacks
                 fix: $fix
ok      seccomp  no seccomp filter refuses windows
broken  events   refused: Operation not permitted; perf_event_paranoid is $level
                 you cannot profile your own programs
                 fix: $remedy
ok      perf     perf 7.3 knows fp,defer
ok      module   $(realpath "$preload")
ok      cache    $tables has 2 tables, and room for ROOM MiB
ok      daemon   none: this kernel has no tables of files
END
same "a kernel without windows" "$tmp/want" "$tmp/text"
is "a kernel without windows: status" 2 "$status"

says_the_same JSON 2 "$filter" perf 1

for option in 0x53464a31 0x53464a32 0x53464a33; do
	finds "a filter that refuses $option" seccomp 2 \
		"broken seccomp a seccomp filter refuses windows: Function not implemented
programs started here get no windows
fix: let prctl(0x53464a31 to 0x53464a33, ...) pass" "$filter" $option 38
	finds "a filter that kills for $option" seccomp 2 \
		"broken seccomp a seccomp filter kills programs with windows: Bad system call
programs started here get no windows
fix: let prctl(0x53464a31 to 0x53464a33, ...) pass" "$filter" $option 0
done
finds "a filter that kills for events" events 2 \
	"broken events refused: Operation not permitted; perf_event_paranoid is $level
you cannot profile your own programs
fix: $remedy" "$filter" perf 0

# A library that answers instead of the kernel; it has no window left.
finds "an older kernel" tables 2 \
	"broken tables the kernel reads no packed tables: it is older than sfjit
programs started here get no windows
fix: boot a kernel with the patches of this version" \
	env LD_PRELOAD="$run/formats.so" FORMATS=15
finds "a kernel of this version" tables 2 \
	"ok tables the kernel reads packed tables" \
	env LD_PRELOAD="$run/formats.so" FORMATS=16
finds "no windows" limit 2 "broken limit vm.max_sframe_windows is 0
no process can have windows
fix: sysctl vm.max_sframe_windows=65536" \
	env LD_PRELOAD="$run/formats.so" FORMATS=16

perf 6.1.187 nothing
finds "an old perf" perf 2 "limited perf perf 6.1.187 does not know fp,defer
pages that are not in memory truncate stacks
fix: install the perf of Linux 6.19 or newer (backports)"
finds "no perf" perf 2 "broken perf not found in PATH
perf is not installed
fix: apt install linux-perf" env PATH=/nowhere


# Copies of the program, with a module or without.
of_module="sfjit run starts programs without windows
fix: install it, in a path without space, colon and dollar"
installed=$sfjit
mkdir "$tmp/bare" "$tmp/a b"
for copy in bare "a b"; do
	mkdir -p "$tmp/$copy/bin" "$tmp/$copy/lib/sfjit"
	cp "$installed" "$tmp/$copy/bin"
done
sfjit=$tmp/bare/bin/sfjit
missing=$tmp/bare/bin/../lib/sfjit/$(basename "$preload")
finds "no module" module 2 \
	"broken module $missing: No such file or directory
$of_module"
sfjit="$tmp/a b/bin/sfjit"
cp "$preload" "$tmp/a b/lib/sfjit"
finds "a module in a path with a space" module 2 \
	"broken module $tmp/a b/lib/sfjit/$(basename "$preload"): Invalid argument
$of_module"
sfjit=$installed

of_cache="tables are kept in /tmp, until it is emptied
fix: export XDG_CACHE_HOME=DIRECTORY, of your own"
chmod 770 "$tables"
finds "a cache that others can write" cache 2 \
	"limited cache $tables: other users may write to it
$of_cache"
chmod 700 "$tables"
rm -r "$XDG_CACHE_HOME/sfjit"
finds "no cache yet" cache 2 \
	"ok cache $XDG_CACHE_HOME/sfjit is made by the first sfjit run"
is "no cache yet: nor now" "" "$(ls "$XDG_CACHE_HOME")"
touch "$XDG_CACHE_HOME/sfjit"
finds "a file in the place of the cache" cache 2 \
	"limited cache $XDG_CACHE_HOME/sfjit: Not a directory
$of_cache"
rm "$XDG_CACHE_HOME/sfjit"
finds "a home that does not exist" cache 2 \
	"limited cache $tmp/home: No such file or directory
$of_cache" \
	env -u XDG_CACHE_HOME HOME="$tmp/home"
finds "a cache that does not exist" cache 2 \
	"ok cache $tmp/new/cache is made by the first sfjit run" \
	env XDG_CACHE_HOME="$tmp/new/cache"
is "a cache that does not exist: nor now" "" "$(find "$tmp" -name new)"
finds "no home" cache 2 \
	"limited cache neither XDG_CACHE_HOME nor HOME is set to a path
$of_cache" env -u HOME XDG_CACHE_HOME=relative

# mounted OPTIONS DIRECTORY COMMAND...: mounts over the directory, with its
# files
cat >"$tmp/mounted" <<'END'
#!/bin/sh
cp -R "$2" "$2.files"
mount -t tmpfs -o "mode=700,$1" none "$2"
case $1 in *ro*) ;; *) cp -R "$2.files/." "$2" ;; esac
rm -r "$2.files"
shift 2
exec "$@"
END
chmod +x "$tmp/mounted"
if unshare -m true 2>/dev/null; then
	cat >"$tmp/shared" <<'END'
#!/bin/sh
mount -t tmpfs -o mode=755 none /var/cache
mkdir -p /var/cache/sfjit/tables
: >/var/cache/sfjit/tables/0.packed
chmod "$1" /var/cache/sfjit
shift
exec "$@"
END
	chmod +x "$tmp/shared"
	finds "no tables for all users" shared 2 ""
	finds "tables for all users" shared 2 \
		"ok shared /var/cache/sfjit/tables has 1 tables for all users" \
		unshare -m "$tmp/shared" 755
	finds "tables that others can write" shared 2 \
		"limited shared /var/cache/sfjit: users other than root may write to it
no program uses its tables
fix: chown -R root:root /var/cache/sfjit; chmod -R go-w /var/cache/sfjit" \
		unshare -m "$tmp/shared" 777
	mkdir -p "$tables"
	chmod 700 "$XDG_CACHE_HOME/sfjit"
	finds "a small cache" cache 2 \
		"limited cache $tables has 0 tables, and room for 1 MiB
new tables may not fit and are then not kept
fix: sfjit cache --clean --mib=100" \
		unshare -m "$tmp/mounted" size=1m "$tables"
	finds "a cache that is read-only" cache 2 \
		"limited cache $tables: Read-only file system
$of_cache" unshare -m "$tmp/mounted" ro "$tables"
	sfjit=$tmp/bare/bin/sfjit
	cp "$preload" "$tmp/bare/lib/sfjit"
	module=$tmp/bare/lib/sfjit/$(basename "$preload")
	noexec="$tmp/mounted noexec $tmp/bare/lib"
	# shellcheck disable=SC2086 # words
	finds "a file system without programs" module 2 \
		"broken module $module: the filesystem is mounted noexec
sfjit run starts programs without windows
fix: mount -o remount,exec \"\$(findmnt -no TARGET -T $module)\"" \
		unshare -m $noexec
	finding module | sed -n 's/fix: //p' >"$tmp/fix"
	# shellcheck disable=SC2086,SC2016 # words; of that shell
	finds "the same, fixed" module 2 "ok module $module" \
		unshare -m $noexec sh -c '. "$1"; shift; exec "$@"' sh "$tmp/fix"
	sfjit=$installed
else
	skip "mounted noexec, or small" "only root can make a mount namespace"
fi

for arguments in --wrong more "--json more"; do
	# shellcheck disable=SC2086 # words
	"$sfjit" doctor $arguments >"$tmp/out" 2>"$tmp/err"
	is "usage '$arguments': status" 125 $?
	is "usage '$arguments': nothing on standard output" "" \
		"$(cat "$tmp/out")"
done
"$sfjit" doctor >/dev/full 2>"$tmp/err"
is "no output: status" 125 $?
is "no output: message" "sfjit: output: No space left on device" \
	"$(cat "$tmp/err")"
finish
