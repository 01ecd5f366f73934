#!/bin/sh
# SPDX-License-Identifier: MIT
# SPDX-FileCopyrightText: 2026 The sfjit authors
#
# Description: programs start under sfjit run whatever C library they have and
# wherever they start: the module needs nothing that musl or glibc 2.28 lack, and
# in a root directory without it ld.so has nothing to complain about.

# shellcheck source=tests/lib/tap.sh
. "$(dirname "$0")/../lib/tap.sh"
# Before lib.sh, which sets its own cache.
musl=$(tools/musl 2>"$tmp/stderr") || musl=
# shellcheck source=tests/preload/lib.sh
. "$top/tests/preload/lib.sh"

# ---- What the module needs -----------------------------------------------------

# Symbols of musl 1.2 and of glibc 2.28, up to these versions. Weak ones may be
# missing.
cat >"$tmp/allowed" <<'END'
_ITM_deregisterTMCloneTable
_ITM_registerTMCloneTable
__cxa_finalize
__environ
__errno_location
__stack_chk_fail
dl_iterate_phdr
environ
getauxval
getpagesize
memchr
memcmp
memcpy
memmove
memset
prctl
strchr
strcmp
strcpy
strcspn
strlen
strncmp
strrchr
strspn
strstr
syscall
END
nm -D --undefined-only "$preload" | awk '{ print $NF }' >"$tmp/needed"
works "names that the module needs: there are some" grep -q ^memcpy "$tmp/needed"
is "names that the module needs: each libc has them" "" \
	"$(sed 's/@.*//' "$tmp/needed" | grep -vxF -f "$tmp/allowed")"
is "versions of names: none is newer than glibc 2.28" "GLIBC_2.28" \
	"$({ sed -n 's/.*@//p' "$tmp/needed"; echo GLIBC_2.28; } | sort -V |
		tail -n 1)"
is "libraries that the module needs" "libc.so.6" \
	"$(readelf -d "$preload" | sed -n 's/.*(NEEDED).*\[\(.*\)\]/\1/p')"

# With the flags of packages, for a file that copies strings.
object=$tmp/build/obj/userspace/preload/cache_dir.o
make -s O="$tmp/build" CFLAGS="-O2 -D_FORTIFY_SOURCE=2" "$object" \
	>"$tmp/stderr" 2>&1 || not_ok "it compiles" "$(cat "$tmp/stderr")"
is "names that the module needs, with _FORTIFY_SOURCE" "" \
	"$(nm --undefined-only "$object" | grep _chk)"

# ---- musl ----------------------------------------------------------------------

# A program of this file, linked with musl, whose interpreter is named by path.
musl_program() {
	_source=$1 _ld=$musl/ld-musl-x86_64.so.1
	shift
	"${CC:-gcc}" -O2 -nostdinc -isystem "$musl/include" -nostdlib -no-pie \
		-fno-pie -fno-stack-protector "$musl/crt1.o" "$musl/crti.o" \
		"$_source" "$@" "$_ld" "$musl/crtn.o" \
		-Wl,-dynamic-linker,"$_ld"
}

said() {
	grep -v 'knows no SFrame windows' "$tmp/stderr"
}

if [ -z "$musl" ]; then
	skip "musl" "no musl of Debian 13 (tools/musl)"
elif musl_program tests/preload/programs/hello.c -o "$tmp/musl"; then
	out=$(register sh -c "\"$tmp/musl\" 7"; echo $?)
	is "musl, a child" "hello 7" "$(echo "$out" | xargs)"
	is "musl, a child: no message" "" "$(said)"
	like "musl, a child: its program has a window" "registered *windows=1 *" \
		"$(logged /musl | grep ^registered | head -n 1)"
	out=$(register "$tmp/musl" 7; echo $?)
	is "musl" "hello 7" "$(echo "$out" | xargs)"
	is "musl: no message" "" "$(said)"
	like "musl: its program has a window" "registered *windows=1 *" \
		"$(logged /musl | grep ^registered | head -n 1)"
else
	not_ok "musl" "no program can be linked"
fi

# ---- Environments without the module -------------------------------------------

out=$(register env -i "$run/hello" 3; echo $?)
is "env -i: a child runs" "hello 3" "$(echo "$out" | xargs)"
is "env -i: no message" "" "$(said)"

out=$(register sh -c "\"$run/hello-static\" 4"; echo $?)
is "a static program, a child" "hello 4" "$(echo "$out" | xargs)"
is "a static program, a child: no message" "" "$(said)"

# ---- Other users ---------------------------------------------------------------

# as_other COMMAND...: of the child; the module is in a home directory
as_other() {
	# shellcheck disable=SC2016 # for the other shell
	out=$("$sfjit" run -- "$@" sh -c 'echo "<$LD_PRELOAD>"' \
		2>"$tmp/stderr"; echo $?)
}

if [ "$(id -u)" = 0 ] && command -v setpriv >/dev/null; then
	installed=$sfjit
	mkdir -p "$tmp/home/bin" "$tmp/home/lib/sfjit"
	cp "$sfjit" "$tmp/home/bin"
	cp "$preload" "$tmp/home/lib/sfjit"
	sfjit=$tmp/home/bin/sfjit
	there="<$tmp/home/lib/sfjit/libsfjit-preload.so> 0"
	chmod 755 "$tmp" "$tmp/home"
	as_other setpriv --reuid=65534 --clear-groups
	is "another user" "$there" "$(echo "$out" | xargs)"
	is "another user: no message" "" "$(said)"
	chmod 700 "$tmp/home"
	as_other setpriv --reuid=65534 --clear-groups
	is "another user who cannot read the module" "<> 0" \
		"$(echo "$out" | xargs)"
	is "another user who cannot read the module: no message" "" "$(said)"
	as_other python3 -c 'import os, sys
os.setresuid(-1, 65534, -1)
os.setresuid(-1, 0, -1)
os.execvp(sys.argv[1], sys.argv[1:])'
	is "another user for a time" "$there" "$(echo "$out" | xargs)"
	sfjit=$installed

	cp "$run/hello" "$tmp/setuid"
	chown 65534 "$tmp/setuid"
	chmod 4755 "$tmp/setuid"
	out=$(register sh -c "\"$tmp/setuid\" 6"; echo $?)
	is "a set-user-ID program, a child" "hello 6" "$(echo "$out" | xargs)"
	is "a set-user-ID program, a child: no message" "" "$(said)"
else
	skip "other users" "only root can become them, by setpriv"
fi

# ---- Other roots ---------------------------------------------------------------

# in_root COMMAND...: in a root directory with hello and printenv
in_root() {
	out=$(register chroot "$tmp/root" "$@")
	status=$?
}

# put FILE...: into it, and the libraries
put() {
	for _file; do
		for _needed in "$_file" $(ldd "$_file" | grep -o '/[^ ]*'); do
			mkdir -p "$tmp/root$(dirname "$_needed")"
			cp -L "$_needed" "$tmp/root$_needed"
		done
	done
}

if ! chroot / true 2>/dev/null; then
	skip "another root directory" "only root can have one"
	finish
	exit
fi
printenv=$(command -v printenv)
put "$run/hello" "$printenv"
in_root "$run/hello" 5
is "another root: status, output" "5 hello" "$status $out"
is "another root: no message" "" "$(said)"
in_root "$printenv" LD_PRELOAD
is "another root: the variable is gone" "1 " "$status $out"
put "$run/plugin1.so" "$run/plugin2.so"
for list in "$run/plugin1.so" "$run/plugin1.so:$run/plugin2.so" \
	"$preload:$run/plugin1.so" "$run/plugin1.so $preload $run/plugin2.so"; do
	LD_PRELOAD=$list
	export LD_PRELOAD
	in_root "$printenv" LD_PRELOAD
	unset LD_PRELOAD
	is "another root: others stay of $(echo "$list" | sed "s|${O}[^ :]*/||g")" \
		"$(echo "$list" | sed "s|$preload[ :]||") " "$out $(said)"
done
put "$preload"
in_root "$printenv" LD_PRELOAD
is "another root that has the module: it stays" "$preload" "$out"
finish
