#!/bin/sh
# SPDX-License-Identifier: MIT
# SPDX-FileCopyrightText: 2026 The sfjit authors
#
# What in a kernel's log makes a guest fail, and which data races do not, nor what
# is wrong before the first process and with other code.

set -eu
# shellcheck source=tests/lib/tap.sh
. "$(dirname "$0")/../lib/tap.sh"
printf '%s\n' sframe_lookup sframe_register >"$tmp/functions"

# complains NAME WHETHER FUNCTIONS LINE...
complains() {
	name=$1 want=$2 functions=$3
	shift 3
	printf '%s\n' "$@" >"$tmp/log"
	got=no
	[ -z "$(awk -v functions="$functions" -f tools/guest-complaints.awk \
		"$tmp/log")" ] || got=yes
	is "$name" "$want" "$got"
}

race() {
	complains "race: $1" "$2" "$tmp/functions" \
		"[    1.000000] BUG: KCSAN: data-race in $3" \
		"[    1.000001]  sframe_lookup+0x1/0x2"
}

leak() {
	complains "leak: $1" "$2" "$tmp/functions" \
		"[    1.0] kmemleak: unreferenced object 0xffff888001 (size 8):" \
		"[    1.0] kmemleak: comm \"a\", pid 1, jiffies 4294" \
		"[    1.0] kmemleak: backtrace (crc 0):" \
		"[    1.0] kmemleak:     kmem_cache_alloc_noprof+0x1/0x2" \
		"[    1.0] kmemleak:     $3" \
		"[    1.0] kmemleak:     __do_sys_prctl+0x1/0x2"
}

# early NAME WHETHER FUNCTION: a report before the first process.
early() {
	complains "early: $1" "$2" "$tmp/functions" \
		"[    0.5] ==================================================" \
		"[    0.5] BUG: KASAN: wild-memory-access in $3" \
		"[    0.5] Read of size 8 at addr ff11000000000000 by task a/0" \
		"[    0.5] Call Trace:" "[    0.5]  $4+0x1/0x2" \
		"[    0.5] ==================================================" \
		"[    0.6] ${5:-ok}"
}

early "of others" no identify_cpu+0x1/0x2 timer "sframe_lookup+0x1/0x2"
early "ours" yes sframe_lookup+0x1/0x2 timer
early "called by ours" yes memcpy+0x1/0x2 sframe_lookup
early "planted" yes planted_bug+0x1/0x2 timer
early "the next one is ours" yes identify_cpu+0x1/0x2 timer \
	"WARNING: kernel/unwind/sframe.c:1 at sframe_lookup+0x1/0x2"
complains "early: all count without a list" yes "" \
	"[    0.5] BUG: KASAN: wild-memory-access in identify_cpu+0x1/0x2"
complains "early: KUnit" yes "$tmp/functions" "[    0.5]     not ok 1 sframe_x"
complains "early: panic" yes "$tmp/functions" \
	"[    0.5] Kernel panic - not syncing: no memory"
complains "of others, with processes" yes "$tmp/functions" \
	"[    0.5] Run /init as init process" \
	"[    0.6] BUG: KASAN: wild-memory-access in identify_cpu+0x1/0x2"
race "first function" yes 'sframe_lookup / mas_store_prealloc'
race "second function" yes 'mas_walk / sframe_register'
race "part of a function" yes 'mas_walk / sframe_register.part.0'
race "unknown origin" yes 'sframe_lookup+0x12/0x40'
race "planted" yes 'planted_race+0x1/0x2 [planted] / kthread'
race "of the tree" no 'mas_store_prealloc / mas_walk'
race "similar name" no 'mas_walk / sframe_lookups'
complains "race: all count without a list" yes "" \
	'[    1.0] BUG: KCSAN: data-race in mas_walk / mas_store_prealloc'
leak "ours" yes 'sframe_register+0x1/0x2'
leak "address first" yes '[<00000000deadbeef>] sframe_register+0x1/0x2'
leak "of others" no 'acpi_init+0x1/0x2'
complains "leak: memory of a KUnit task" no "$tmp/functions" \
	"[    1.0] kmemleak: unreferenced object 0xffff888001 (size 8):" \
	"[    1.0] kmemleak:     kunit_attach_mm+0x1/0x2" \
	"[    1.0] kmemleak:     sframe_lookup+0x1/0x2"
complains "leak: after that of a KUnit task" yes "$tmp/functions" \
	"[    1.0] kmemleak: unreferenced object 0xffff888001 (size 8):" \
	"[    1.0] kmemleak:     kunit_attach_mm+0x1/0x2" \
	"[    1.0] kmemleak: unreferenced object 0xffff888002 (size 8):" \
	"[    1.0] kmemleak:     sframe_lookup+0x1/0x2"
complains "no memory" no "" '[    1.0] a: vmalloc error: size 65536, align 1' \
	'[    1.0] Call Trace:' '[    1.0]  warn_alloc+0x1/0x2'
complains "another trace after no memory" yes "" \
	'[    1.0] a: page allocation failure: order:0, mode:0xdc' \
	'[    1.0] Call Trace:' '[    1.1] Call Trace:'
complains "oops" yes "" '[    1.0] BUG: kernel NULL pointer dereference'
complains "KASAN" yes "" '[    1.0] BUG: KASAN: slab-use-after-free in x'
complains "UBSAN" yes "" '[    1.0] UBSAN: shift-out-of-bounds in a.c:1:2'
complains "warning" yes "" '[    1.0] WARNING: CPU: 0 PID: 1 at mm/slub.c:1'
complains "lockdep" yes "" \
	'[    1.0] WARNING: possible circular locking dependency detected'
complains "KUnit" yes "" '[    1.0]     not ok 1 sframe_x' \
	'[    1.0] not ok 1 sframe_section'
complains "quiet log" no "" '[    1.0] kcsan: selftest: 3/3 tests passed' \
	'[    1.0] ok 1 sframe_section' '[    1.0] random: crng init done'
finish
