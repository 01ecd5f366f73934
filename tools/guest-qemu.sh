# SPDX-License-Identifier: MIT
# SPDX-FileCopyrightText: 2026 The sfjit authors
# shellcheck shell=sh
# shellcheck disable=SC2154 # options, set by tools/guest
#
# The parts of tools/guest: input of the guest, QEMU, and output.
# Sourced after lib.sh.

# The kernel with debug information takes this many minutes of one CPU.
gdb_kernel_minutes=17

# Its process, while it runs.
qemu_pid=''

# For a machine whose kernel is not built here.
debian_kernel=''

find_images() {
	emulator=$("$top/tools/qemu" $qemu_machine) || return
	[ -z "$gdb" ] || choose_symbols || return
	case $boot_dir:$kernel in
	?*:*) image=$boot_dir/vmlinuz ;;
	*/*) image=$kernel ;;
	:riscv64)
		debian_kernel=$("$top/tools/debian-kernel" $guest_machine) || return
		image=$debian_kernel/vmlinuz ;;
	:stock-*)
		debian_kernel=$("$top/tools/stock-kernel" "${kernel#stock-}") || return
		image=$debian_kernel/vmlinuz ;;
	*) image=$("$top/tools/kernel" image "$kernel") || return ;;
	esac
	[ -f "$image" ] || { say "guest: no kernel $image"; return 1; }
	[ -z "$gdb" ] || [ -f "${image%/*}/vmlinux" ] ||
		{ say "guest: no vmlinux beside $image"; return 1; }
	find_disk
}

find_disk() {
	[ "$rootfs" != none ] || return 0
	[ -z "$disk" ] || { disk_mode=cache=unsafe; return 0; }
	# shellcheck disable=SC2086 # an option, or none
	disk=$("$top/tools/rootfs" $debian_machine "--with=$with") || return
	disk_mode=cache=unsafe,snapshot=on
}

# The kernel that has debug information and is otherwise $kernel.
choose_symbols() {
	case $kernel in
	patched) kernel=gdb ;;
	gdb | debug | */*) ;;
	*) say "guest: no $kernel kernel with debug information"; return 1 ;;
	esac
	[ "$kernel" != gdb ] || ls -d "$cache"/build-gdb-* >/dev/null 2>&1 ||
		say "The first kernel with debug information takes about" \
			"$((gdb_kernel_minutes / jobs + 1)) minutes."
}

# What machine the kernel is for.  Arm's own algorithm signs pointers an order of
# magnitude more slowly than QEMU's does.
choose_machine() {
	case $kernel in
	aarch64*)
		guest_machine=arm64 qemu_machine=aarch64
		guest_built=$O/arch/aarch64
		emulated=max,pauth-impdef=on
		console=ttyAMA0 serial=virtio-serial-pci
		debian_machine=--arch=arm64 ;;
	s390x*)
		guest_machine=s390x qemu_machine=s390x
		guest_built=$O/arch/s390x
		emulated=max
		console=ttysclp0 serial=virtio-serial-ccw
		debian_machine=--arch=s390x ;;
	riscv64)
		guest_machine=riscv64 qemu_machine=riscv64
		guest_built=$O/arch/riscv64
		emulated=rv64
		console=ttyS0 serial=virtio-serial-pci
		debian_machine=--arch=riscv64 ;;
	*)
		guest_machine=x86_64 qemu_machine=x86_64
		guest_built=$O
		emulated=max
		console=ttyS0 serial=virtio-serial-pci
		debian_machine='' ;;
	esac
}

pack_initramfs() {
	[ -z "$boot_dir" ] || { cp "$boot_dir/initrd.img" "$run/initramfs"; return; }
	mkdir -p "$run/init/bin"
	_busybox=$("$top/tools/busybox" $guest_machine) || return
	cp "$_busybox" "$run/init/bin/"
	cp "$top/tools/guest-init" "$run/init/init"
	[ -z "$debian_kernel" ] || cp -r "$debian_kernel/modules" "$run/init/"
	(cd "$run/init" && find . | cpio -o -H newc --quiet) |
		gzip -1 >"$run/initramfs"
}

# Status 1 of tar: a file changed meanwhile, as logs and other tests' do.
pack() {
	tar -f "$run/payload" "$@" 2>>"$run/tar.log" || [ $? = 1 ] ||
		{ cat "$run/tar.log" >&2; return 1; }
}

# The command with its exact words; without any, a shell.
guest_command() {
	echo 'cd /sfjit'
	[ "$input" != terminal ] || terminal_settings
	if [ $# -gt 0 ]; then
		echo "exec $(quote "$@")"
	else
		echo "exec \$(command -v bash || echo sh)"
	fi
}

# Of all kernels: tests know that of theirs.
pack_modules() {
	[ ! -d "$O/module" ] ||
		pack -r --transform='s|^|build/|S' -C "$O" module
}

# The repository with what was built, and the command.
pack_payload() {
	guest_command "$@" >"$run/.guest-command"
	_built=$(cd "$guest_built" && ls -d bin lib tests gen examples stock 2>/dev/null) || :
	pack -c -C "$run" .guest-command &&
	pack -r -C "$top" --exclude=./.git --exclude=./build . &&
	pack_modules &&
	for _b in $_built; do
		pack -r --transform='s|^|build/|S' --exclude=tests/kernel/fuzz \
			-C "$guest_built" "$_b" || return
	done
}

# /dev/kvm may exist and still not work, so a guest is booted with it, once
# since the machine started.
choose_accelerator() {
	[ -z "$accel" ] || return 0
	accel=tcg
	[ $guest_machine = x86_64 ] && [ -w /dev/kvm ] || return 0
	_probed=$cache/kvm-$(echo "$emulator" |
		cat /proc/sys/kernel/random/boot_id - | hash16)
	[ -f "$_probed" ] || probe_kvm "$_probed"
	accel=$(cat "$_probed")
}

# probe_kvm FILE: guests that start meanwhile probe by themselves.
probe_kvm() {
	if "$top/tools/guest" --accel=kvm --kernel="$image" --rootfs=none \
		--timeout=30 --name=kvm-probe -- true >/dev/null 2>&1; then
		echo kvm
	else
		echo tcg
	fi >"$1.$$"
	mv "$1.$$" "$1"
}

# The interrupt routing of q35 is a table, that of the default machine a program,
# which takes a kernel with KASAN minutes.  A thread for each CPU takes interrupts
# only where a block of translated instructions begins; -icount, which QEMU has for
# one thread, ends blocks where a timer is due.  An instruction takes 2^shift ns:
# 4 ns is about what emulating it takes.
machine() {
	case $guest_machine in
	arm64) echo "-machine virt,gic-version=3,mte=on" ;;
	s390x) echo "-machine s390-ccw-virtio" ;;
	riscv64) echo "-machine virt" ;;
	*) echo "-machine q35" ;;
	esac
	case $accel:$cpus in
	kvm:*) echo "-accel kvm -cpu host -smp $cpus" ;;
	tcg:1) echo "-accel tcg -cpu $emulated -icount shift=$shift" ;;
	tcg:*) echo "-accel tcg,thread=multi -cpu $emulated -smp $cpus" ;;
	esac
}

# port NAME [CHARDEV]: what the guest writes to this virtio port goes to the
# file NAME, or to the CHARDEV, from where it reads, too.
port() {
	echo "-chardev ${2:-file,path=$run/$1},id=$1"
	echo "-device virtserialport,chardev=$1,name=$1"
}

# Where the command's input comes from and its output goes to.
streams() {
	case $input in
	terminal)
		terminal_device
		return ;;
	stdin)
		port in stdio ;;
	esac
	port out
	port err
}

# Nothing but a debugger starts the CPUs.
debugger() {
	echo "-S -chardev socket,id=gdb,path=$run/gdb,server=on,wait=off"
	echo "-gdb chardev:gdb"
}

# drive FILE OPTIONS
drive() {
	echo "-drive if=virtio,format=raw,file=$1,$2"
}

# The init of the root filesystem, or that of ours, which mounts it.
root_parameters() {
	if [ -n "$boot_dir" ]; then
		echo "root=/dev/vdb rw"
	else
		echo "rootfs=$rootfs"
	fi
}

# The guest has no keyboard, the search for one takes minutes with KASAN.  On a
# loaded host the check of the timer can miss the ticks that it waits for, and
# panics.  Arm's interrupts of counters are NMIs if asked for.
machine_parameters() {
	case $guest_machine in
	arm64) echo "irqchip.gicv3_pseudo_nmi=1" ;;
	s390x | riscv64) ;;
	*) echo "i8042.nopnp i8042.noaux i8042.nokbd no_timer_check" \
		"tsc=nowatchdog" ;;
	esac
}

# A debugger knows functions at the addresses they are linked to.
qemu() {
	# shellcheck disable=SC2046 # no blanks in what these print
	exec timeout --foreground "$limit" "$emulator" $(machine) \
		-m "$mem" -nodefaults -no-user-config -display none -no-reboot \
		-kernel "$image" -initrd "$run/initramfs" \
		-append "console=$console ignore_loglevel panic=-1 \
			$(machine_parameters) $(root_parameters) \
			${gdb:+ nokaslr}" \
		-serial "file:$dmesg" -device "$serial" \
		$(streams) $(port files) $(port status) \
		$(drive "$run/payload" read-only=on,cache=unsafe) \
		$([ -z "$disk" ] || drive "$disk" $disk_mode) \
		$([ -z "$gdb" ] || debugger) 2>"$run/qemu.log"
}

start_qemu() {
	case $input in
	terminal) qemu <"$terminal" >"$terminal" & ;;
	stdin) qemu <&3 >/dev/null & ;;
	none) qemu </dev/null >/dev/null & ;;
	esac
	qemu_pid=$!
}

# A signal that has a trap ends `wait', too.
wait_qemu() {
	_rc=0
	while :; do
		wait "$qemu_pid" || _rc=$?
		kill -0 "$qemu_pid" 2>/dev/null || break
		_rc=0
	done
	qemu_pid=
	return $_rc
}

stop_qemu() {
	[ -z "$qemu_pid" ] || ! kill "$qemu_pid" 2>/dev/null || wait_qemu || :
}

# Output goes through files, not pipes: a slow reader must not stop the guest.
boot() {
	: >"$run/out"
	: >"$run/err"
	[ "$input" != terminal ] || announce_terminal
	start_qemu
	[ -z "$gdb" ] || announce_debugger
	tail -c +1 -s 0.1 -f --pid="$qemu_pid" "$run/out" &
	_tails=$!
	tail -c +1 -s 0.1 -f --pid="$qemu_pid" "$run/err" >&2 &
	_tails="$_tails $!"
	_status=0
	wait_qemu || _status=$?
	# shellcheck disable=SC2086
	wait $_tails || :
	return $_status
}

# The line that connects a debugger, once there is something to connect to.
announce_debugger() {
	until [ -S "$run/gdb" ]; do
		kill -0 "$qemu_pid" 2>/dev/null || return 0
		sleep 0.1
	done
	say "guest: waiting for a debugger:"
	say "gdb -iex $(quote "add-auto-load-safe-path ${image%/*}")-ex" \
		"$(quote "target remote $run/gdb")$(quote "${image%/*}/vmlinux")"
}

take_files() {
	[ ! -s "$run/files" ] || tar -C "$O" -xf "$run/files"
}

# Problems in the kernel's log.  The functions whose data races and leaks count
# are named in a file beside an image of tools/kernel.
complaints() {
	_functions=${image%/*}/functions
	[ -f "$_functions" ] || _functions=
	awk -v functions="$_functions" -f "$top/tools/guest-complaints.awk" \
		"$dmesg" >"$run/complaints"
	[ -s "$run/complaints" ]
}

# report_status QEMU-STATUS: ends the script.
report_status() {
	if complaints; then
		say "guest: the kernel reported problems, see $dmesg:"
		head -n 20 "$run/complaints" >&2
		exit 99
	elif [ "$1" = 124 ]; then
		say "guest: timeout after $limit s, see $dmesg"
		exit 124
	elif [ ! -s "$run/status" ]; then
		say "guest: the guest ended too early, see $dmesg:"
		tail -n 5 "$run/qemu.log" "$dmesg" >&2
		exit 98
	fi
	exit "$(cat "$run/status")"
}
