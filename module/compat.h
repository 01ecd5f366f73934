/* SPDX-License-Identifier: GPL-2.0 */
/* SPDX-FileCopyrightText: 2026 The sfjit authors
 *
 * Functions that the sources of the series and the module use, and that kernels
 * from 6.1 on lack or do not export.
 * Kbuild includes it before each source.
 */
#ifndef SFJIT_COMPAT_H
#define SFJIT_COMPAT_H

/* Not exported, and never called: decoding already reads the prefixes. */
#define insn_get_prefixes		sfjit_insn_get_prefixes

#include <linux/version.h>
#include <linux/module.h>
#include <linux/kernel.h>
#include <linux/cache.h>
#include <linux/cleanup.h>
#include <linux/compat.h>
#include <linux/elf.h>
#include <linux/maple_tree.h>
#include <linux/memcontrol.h>
#include <linux/minmax.h>
#include <linux/mm.h>
#include <linux/mm_types.h>
#include <linux/mmap_lock.h>
#include <linux/mutex.h>
#include <linux/nospec.h>
#include <linux/overflow.h>
#include <linux/perf_event.h>
#include <linux/preempt.h>
#include <linux/rcupdate.h>
#include <linux/sched/clock.h>
#include <linux/sched/mm.h>
#include <linux/sched/signal.h>
#include <linux/sched/task_stack.h>
#include <linux/security.h>
#include <linux/seq_file.h>
#include <linux/slab.h>
#include <linux/sysctl.h>
#include <linux/uaccess.h>
#include <linux/uprobes.h>

#include <asm/insn.h>
#include <asm/ucontext.h>

/* Not exported. */
bool sfjit_at_func_entry(struct pt_regs *regs);
unsigned long sfjit_trampoline_vaddr(void);
#define is_uprobe_at_func_entry		sfjit_at_func_entry
#define uprobe_get_trampoline_vaddr	sfjit_trampoline_vaddr
int sfjit_insn_decode(struct insn *insn, const void *code, int length,
		      enum insn_mode mode);
#define insn_decode			sfjit_insn_decode

/* Not exported. No program has code in its first page. */
#undef mmap_min_addr
#define mmap_min_addr			PAGE_SIZE

/* A kernel with deferred stacks has a function of this name. */
#define unwind_user			sfjit_unwind_user

#ifndef __uninitialized
#define __uninitialized
#endif
#ifndef unrolled_count
#define unrolled_count(n)
#endif
#ifndef kzalloc_obj
#define kzalloc_obj(obj, gfp)		kzalloc(sizeof(obj), gfp)
#endif
#ifndef kmalloc_objs
#define kmalloc_objs(obj, nr, gfp)	kmalloc_array(nr, sizeof(obj), gfp)
#endif
#ifndef kzalloc_objs
#define kzalloc_objs(obj, nr, gfp)	kcalloc(nr, sizeof(obj), gfp)
#endif

#ifndef can_do_masked_user_access
#define can_do_masked_user_access()	0
#define mask_user_address(ptr)		(ptr)
#define masked_user_access_begin(ptr)	(ptr)
/*
 * The series opens access for NULL, which never fails. Compilers do not know
 * that here, and objtool would check the path for a failure.
 */
#undef user_read_access_begin
#define user_read_access_begin(ptr, size) ({ __uaccess_begin_nospec(); true; })
#endif
#ifndef masked_user_read_access_begin
#define masked_user_read_access_begin(ptr)	masked_user_access_begin(ptr)
#endif

/* Samples read mappings without a lock: the kernel must free them by RCU. */
#if LINUX_VERSION_CODE >= KERNEL_VERSION(6, 12, 0)
#define CONFIG_UNWIND_USER_SFRAME_FILES	1
#endif

DEFINE_LOCK_GUARD_0(pagefault, pagefault_disable(), pagefault_enable())

#define insn_is_avx_or_xop		insn_is_avx

/* Kernels before 6.10 do not decode REX2. */
#ifndef INAT_REX2_VARIANT
#define insn_is_rex2(insn)		false
#endif

#if LINUX_VERSION_CODE < KERNEL_VERSION(6, 8, 0)
/* Callers hold the locks of both trees. */
static inline int sfjit_mt_dup(struct maple_tree *mt, struct maple_tree *new,
			       gfp_t gfp)
{
	MA_STATE(mas, mt, 0, 0);
	MA_STATE(nas, new, 0, 0);
	void *entry;
	int ret;

	mas_for_each(&mas, entry, ULONG_MAX) {
		mas_set_range(&nas, mas.index, mas.last);
		ret = mas_store_gfp(&nas, entry, gfp);
		if (ret) {
			__mt_destroy(new);
			return ret;
		}
	}
	return 0;
}
#define __mt_dup			sfjit_mt_dup
#endif

#if LINUX_VERSION_CODE < KERNEL_VERSION(6, 6, 0)
#define register_sysctl_sz(path, table, nr)	register_sysctl(path, table)
#endif

#if LINUX_VERSION_CODE < KERNEL_VERSION(6, 2, 0)
#define ftrace_regs_set_instruction_pointer	ftrace_instruction_pointer_set
#define ftrace_regs_get_argument(fregs, nr) \
	((nr) ? (fregs)->regs.si : (fregs)->regs.di)
#endif

#endif
