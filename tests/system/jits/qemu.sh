# SPDX-License-Identifier: MIT
# SPDX-FileCopyrightText: 2026 The sfjit authors
# shellcheck shell=sh disable=SC2154
# The machine that it emulates runs the boot sector qemu.S, after its firmware.
qemu_stamp() {
	echo "$1 $(cut -d ' ' -f 1 /proc/uptime)0000000" \
		>>"$out/qemu.$mode.truth"
}

rm -f /tmp/qemu.runs
(
	for _ in $(seq 300); do
		[ ! -s /tmp/qemu.runs ] || break
		sleep 0.2
	done
	qemu_stamp begin
	sleep "$seconds"
	qemu_stamp end
	kill "$(cat /tmp/qemu.pid)"
) &
record qemu "$mode" qemu-system-x86_64 -accel tcg -smp 2 -nodefaults \
	-display none -perfmap -pidfile /tmp/qemu.pid \
	-debugcon file:/tmp/qemu.runs \
	-drive "file=$PWD/build/tests/system/jits/qemu.img,format=raw,if=ide"
wait
