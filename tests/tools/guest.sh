#!/bin/sh
# SPDX-License-Identifier: MIT
# SPDX-FileCopyrightText: 2026 The sfjit authors
#
# Options of tools/guest, and what goes between it and QEMU.  Programs of our
# own stand for QEMU and what packs the guest.

set -eu
# shellcheck source=tests/lib/case.sh
. "$(dirname "$0")/../lib/case.sh"

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
export version=7.2.22
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
refused 'boot without a disk' 2 'guest: --boot needs the --disk *' \
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
is 'command: time limit' 900 "$(cat "$tmp/limit")"

# breakpoint NAME STATUS VERSION-OF-QEMU BYTES [OPTION...]: the guest ends with a
# breakpoint whose kernel has BYTES in memory around the address behind it.
breakpoint() {
	name=$1 want=$2 version=$3
	printf '%s\n' "$before" '[    1.0] Oops: int3: 0000 [#1] SMP' \
		"[    1.1] Code: $4 10 0c 00" '[    1.2] Code: cc <90>' \
		>"$tmp/dmesg"
	shift 4
	guest "$@" -- true </dev/null
	is "breakpoint: $name" "$want" "$rc"
	: >"$tmp/dmesg"
}

before='[    0.9] a line'
breakpoint 'no longer in memory' 96 7.2.22 '48 e8 <77>'
like 'breakpoint: said' "guest: QEMU ran a breakpoint *" "$(cat "$tmp/err")"
breakpoint 'no longer in memory, 8.0' 96 8.0.5 '48 e8 <77>'
breakpoint 'in memory' 99 7.2.22 'e8 cc <77>'
breakpoint 'memory cannot be read' 99 7.2.22 'Unable to access opcode bytes'
breakpoint 'a QEMU without the mistake' 99 8.1.0 '48 e8 <77>'
breakpoint 'a later one' 99 10.0.2 '48 e8 <77>'
breakpoint 'a true CPU' 99 7.2.22 '48 e8 <77>' --accel=kvm
before='[    0.9] BUG: KASAN: slab-use-after-free in sframe_lookup+0x1/0x2'
breakpoint 'behind another complaint' 99 7.2.22 '48 e8 <77>'
version=7.2.22

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

: >"$tmp/vmlinux"
guest --gdb -- true </dev/null
like 'gdb: stopped' '* -S *' "$(cat "$tmp/arguments")"
like 'gdb: addresses as linked' '* nokaslr *' "$(cat "$tmp/arguments")"
is 'gdb: no time limit' 0 "$(cat "$tmp/limit")"
finish
