# SPDX-License-Identifier: MIT
# SPDX-FileCopyrightText: 2026 The sfjit authors
#
# usage: awk -f tools/guest-complaints.awk [-v functions=FILE] LOG
#
# Prints "NUMBER:LINE" for each line of a kernel log that reports a bug of the
# kernel.  Data races, leaks, and reports before the first process count only if a
# function that FILE names takes part; without FILE all count.  The rest of the
# kernel has many races, some of them intended, and may have problems with the
# machine that QEMU emulates.

BEGIN {
	while (functions != "" && (getline name <functions) > 0)
		ours[name] = 1
	# What is wrong on purpose: tests/kernel/module/planted.c.
	planted = "^planted_"
}

# "name.suffix+0x1/0x2 [module]" as the compiler and printk() make of `name'.
function is_ours(name) {
	sub(/[.+ ].*/, "", name)
	return functions == "" || name in ours || name ~ planted
}

function race_is_ours(title,    names) {
	sub(/.* in /, "", title)
	split(title, names, " / ")
	return is_ours(names[1]) || is_ours(names[2])
}

# A line of a trace has "name+0x1/0x2".
function names_ours(    i) {
	for (i = 1; i <= NF; i++)
		if ($i ~ /\+0x/ && is_ours($i))
			return 1
	return functions == ""
}

{ sub(/\r$/, "") }

/Run [^ ]* as init process/ { processes = 1 }

# The end of a report, or the next one: what was held back is not ours.
/==========|end trace|BUG:|WARNING:|UBSAN:/ { held = "" }

held != "" && names_ours() {
	print held
	held = ""
}

/BUG: KCSAN: / {
	if (race_is_ours($0))
		print NR ":" $0
	next
}

# An object, then how it was allocated.
/kmemleak: unreferenced object/ {
	leak = NR ":" $0
	next
}

/kmemleak:   / {
	frame = $0
	sub(/.*kmemleak: */, "", frame)
	sub(/^\[<[^]]*\] */, "", frame)
	# KUnit keeps the reference that kthread_use_mm() takes.  x86-64 has a
	# pointer from pages of page tables, AArch64 has none.
	if (frame ~ /^kunit_attach_mm/)
		leak = ""
	if (leak != "" && is_ours(frame)) {
		print leak
		print NR ":" $0
		leak = ""
	}
	next
}

# Memory that is refused, as by fault injection, is said with a call trace.
/vmalloc error:|page allocation failure:/ { refused = 1 }

refused && /Call Trace:/ {
	refused = 0
	next
}

/BUG:|WARNING:|Oops|KASAN|UBSAN|Kernel panic|Call Trace|suspicious RCU|rcu.*stall|possible (circular|recursive)|inconsistent lock|held lock freed|bad unlock balance|non-static key|scheduling while atomic|invalid context|unregistered|soft lockup|hard LOCKUP|blocked for more than|refcount_t/ ||
/^(\[[^]]*\])? *not ok / {
	if (processes || names_ours() || /not ok|panic/)
		print NR ":" $0
	else if (held == "")
		held = NR ":" $0
}
