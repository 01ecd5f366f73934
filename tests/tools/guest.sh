#!/bin/sh
# SPDX-License-Identifier: MIT
# SPDX-FileCopyrightText: 2026 The sfjit authors
#
# Options of tools/guest, and what goes between it and QEMU.  Programs of our
# own stand for QEMU and what packs the guest.

set -eu
# shellcheck source=tests/lib/tap.sh
. "$(dirname "$0")/../lib/tap.sh"

mkdir "$tmp/bin"
: >"$tmp/bzImage"
for program in busybox cpio; do
	printf '#!/bin/sh\n' >"$tmp/bin/$program"
done
cat >"$tmp/bin/timeout" <<'END'
#!/bin/sh
echo "$2" >"$tmp/limit"
shift 2
exec "$@"
END
# Its guest gives back what it reads, and the command it was to run.
cat >"$tmp/bin/qemu-system-x86_64" <<'END'
#!/bin/sh
[ "$1" != --version ] || exec echo "QEMU emulator version $version (Debian)"
echo "$*" >"$tmp/arguments"
file() { sed -n "s/.* file,path=\([^ ]*\),id=$1 .*/\1/p" "$tmp/arguments"; }
drive=$(sed -n 's/.*,file=\([^ ]*\),read-only.*/\1/p' "$tmp/arguments")
tar -xOf "$drive" .guest-command >"$tmp/command"
cp "$tmp/dmesg" "$(sed -n 's/.*-serial file:\([^ ]*\) .*/\1/p' "$tmp/arguments")"
cat >"$(file out)"
echo 7 >"$(file status)"
END
chmod +x "$tmp/bin"/*
: >"$tmp/dmesg"
export version=10.0.2
export tmp PATH="$tmp/bin:$PATH" O="$tmp/build" XDG_CACHE_HOME="$tmp/cache"
unset SFJIT_KERNEL

# guest OPTION...: stdin, output and status are the guest's.
guest() {
	rc=0
	tools/guest --kernel="$tmp/bzImage" --rootfs=none --accel=tcg "$@" \
		>"$tmp/out" 2>"$tmp/err" || rc=$?
}

# refused NAME STATUS PATTERN OPTION...
refused() {
	name=$1 want=$2 pattern=$3
	shift 3
	rc=0
	said=$(tools/guest "$@" 2>&1 </dev/null) || rc=$?
	is "$name: status" "$want" "$rc"
	like "$name: message" "$pattern" "$said"
}

refused 'no command' 2 'usage: *' --rootfs=none
refused 'unknown option' 2 'usage: *' --shel
refused 'packages without a root filesystem' 2 \
	'guest: --with *--rootfs=none*' --rootfs=none --with=hello -- true
refused 'boot without a disk' 2 'guest: --boot needs --disk, *' \
	--boot="$tmp" -- true
refused 'name that is none' 97 "rootfs: no name of a package: 'Hello'" \
	--kernel="$tmp/bzImage" --with=hello --with=Hello -- true
refused 'no debug information' 97 'guest: no unpatched kernel with debug *' \
	--gdb --kernel=unpatched --rootfs=none -- true
refused 'no vmlinux' 97 "guest: no vmlinux beside $tmp/bzImage" \
	--gdb --kernel="$tmp/bzImage" --rootfs=none -- true

printf 'one\ntwo\n' >"$tmp/in"
guest -- echo 'a  b' "it's" <"$tmp/in"
is 'command: status' 7 "$rc"
is 'command: reads nothing' '' "$(cat "$tmp/out")"
is 'command: its words' "exec 'echo' 'a  b' 'it'\''s' " \
	"$(tail -n 1 "$tmp/command")"
is 'command: time limit' 3600 "$(cat "$tmp/limit")"

# A host's QEMU that runs old code, or gathers wrong, is not used. What there is for it in the cache
# is found, so that nothing is fetched.
private=qemu_x86_64-$(sha256sum <tools/qemu | cut -c1-16)
mkdir -p "$tmp/cache/sfjit/$private"
# emulator WANT VERSION-OF-THE-HOST'S
emulator() {
	is "QEMU of the host: ${2:-none}" "$1" \
		"$(version=$2 tools/qemu x86_64)"
}

emulator "$tmp/bin/qemu-system-x86_64" 9.1.0
emulator "$tmp/bin/qemu-system-x86_64" 10.0.2
emulator "$tmp/cache/sfjit/$private/qemu-system-x86_64" 9.0.2
emulator "$tmp/cache/sfjit/$private/qemu-system-x86_64" 8.1.0
emulator "$tmp/cache/sfjit/$private/qemu-system-x86_64" ''
rmdir "$tmp/cache/sfjit/$private"

mkdir "$tmp/boot"
: >"$tmp/boot/vmlinuz"
echo theirs >"$tmp/boot/initrd.img"
: >"$tmp/disk"
rc=0
tools/guest --boot="$tmp/boot" --disk="$tmp/disk" --accel=tcg -- true \
	>"$tmp/out" 2>"$tmp/err" || rc=$?
is 'boot: status' 7 "$rc"
like 'boot: their kernel, and their init' \
	"*-kernel $tmp/boot/vmlinuz *root=/dev/vdb*" \
	"$(tr -s '\t\n' '  ' <"$tmp/arguments")"
like 'boot: what is written to the disk stays' \
	"*file=$tmp/disk,cache=unsafe" "$(cat "$tmp/arguments")"

guest --shell <"$tmp/in"
is 'shell: status' 7 "$rc"
is 'shell: reads stdin' "$(cat "$tmp/in")" "$(cat "$tmp/out")"
is 'shell: says nothing' '' "$(cat "$tmp/err")"
# shellcheck disable=SC2016 # the guest's
is 'shell: bash, if it is there' 'exec $(command -v bash || echo sh)' \
	"$(tail -n 1 "$tmp/command")"
is 'shell: no time limit' 0 "$(cat "$tmp/limit")"

guest --shell --timeout=5 -- cat </dev/null
is 'shell with a command: its words' "exec 'cat' " \
	"$(tail -n 1 "$tmp/command")"
is 'shell with a limit' 5 "$(cat "$tmp/limit")"

guest -- true </dev/null
like 'two CPUs by default' '* -smp 2 *' "$(cat "$tmp/arguments")"
guest --cpus=1 -- true </dev/null
like 'an emulated CPU has the time of its instructions' '*tcg *-icount shift=2*' \
	"$(cat "$tmp/arguments")"
guest --accel=kvm --cpus=1 -- true </dev/null
is 'a true CPU does not' 0 "$(grep -c icount "$tmp/arguments")"
like 'a true CPU is one' '*kvm *-smp 1 *' "$(cat "$tmp/arguments")"
guest --accel=kvm --icount -- true </dev/null
like 'counting instructions emulates' '*tcg *-icount shift=0*' \
	"$(cat "$tmp/arguments")"

: >"$tmp/vmlinux"
guest --gdb -- true </dev/null
like 'gdb: stopped' '* -S *' "$(cat "$tmp/arguments")"
like 'gdb: addresses as linked' '* nokaslr *' "$(cat "$tmp/arguments")"
is 'gdb: no time limit' 0 "$(cat "$tmp/limit")"
finish
