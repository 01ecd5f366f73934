// SPDX-License-Identifier: GPL-2.0
// SPDX-FileCopyrightText: 2026 The sfjit authors
/*
 * SFrame windows on an unpatched kernel: hooks replace the series' edits of the
 * kernel.
 *
 *   perf_callchain_user()	diverted if current has windows, or files may
 *				have tables
 *   security_task_prctl()	diverted for the options of the series, if
 *				the administrator asks for prctl()
 *   uprobe_dup_mmap()		diverted at a fork of a process with windows
 *   munmap(), exit		an MMU notifier of address spaces with windows
 */
#include <linux/static_call.h>

#include "series.h"
#include "hooks.h"
#include "sfjit.h"
#include "target.h"

/* --- registration --------------------------------------------------------- */

static int sfjit_make_entry(struct mm_struct *mm)
{
	int ret;

	if (sfjit_mm_find(mm))
		return 0;
	ret = sfjit_callchain_want();
	if (ret)
		return ret;
	ret = sfjit_mm_make(mm);
	sfjit_callchain_wanted();
	return ret;
}

/* PR_SFRAME_REGISTER without permission check; @mm of current or its target. */
int sfjit_register(struct mm_struct *mm, unsigned long key, unsigned long addr,
		   unsigned long len, unsigned long opts)
{
	return sfjit_make_entry(mm) ?:
	       sframe_prctl_register(key, addr, len, opts);
}

/* PR_SFRAME_FILES. While the descriptor is open, call chains stay hooked. */
int sfjit_open_files(unsigned long arg2, unsigned long arg3, unsigned long arg4,
		     unsigned long arg5)
{
	int ret;

	ret = sfjit_callchain_want();
	if (ret)
		return ret;
	ret = sframe_prctl_files(arg2, arg3, arg4, arg5);
	sfjit_callchain_wanted();
	return ret;
}

/* --- prctl() -------------------------------------------------------------- */

static bool sfjit_has_prctl;
module_param_named(prctl, sfjit_has_prctl, bool, 0444);
MODULE_PARM_DESC(prctl, "Also take registrations by prctl(), which diverts security_task_prctl()");

static int sfjit_no_lsm(int option, unsigned long arg2, unsigned long arg3,
			unsigned long arg4, unsigned long arg5)
{
	return -ENOSYS;
}

static void sfjit_no_dup_mmap(struct mm_struct *oldmm, struct mm_struct *newmm)
{
}

DEFINE_STATIC_CALL(sfjit_lsm, sfjit_no_lsm);
DEFINE_STATIC_CALL(sfjit_dup_mmap, sfjit_no_dup_mmap);

/*
 * Replaces security_task_prctl(), whose result prctl() returns unless it is
 * -ENOSYS. Call the security modules first.
 */
static noinline int sfjit_prctl(int option, unsigned long arg2,
				unsigned long arg3, unsigned long arg4,
				unsigned long arg5)
{
	int ret = static_call(sfjit_lsm)(option, arg2, arg3, arg4, arg5);

	if (ret == -ENOSYS) {
		if (option == PR_SFRAME_REGISTER)
			ret = sfjit_device_permits() ?
			      sfjit_register(current->mm, arg2, arg3, arg4,
					     arg5) : -EPERM;
		else if (option == PR_SFRAME_UNREGISTER)
			ret = sframe_prctl_unregister(arg2, arg3, arg4, arg5);
		else if (option == PR_SFRAME_FILES)
			ret = sfjit_open_files(arg2, arg3, arg4, arg5);
		else
			ret = sframe_prctl_query(arg2, arg3, arg4, arg5);
	}
	module_put(THIS_MODULE);
	return ret;
}

static_assert(__same_type(security_task_prctl, sfjit_prctl));

static void notrace sfjit_on_prctl(unsigned long ip, unsigned long parent,
				   struct ftrace_ops *ops,
				   struct ftrace_regs *fregs)
{
	int option = ftrace_regs_get_argument(fregs, 0);

	if (option != PR_SFRAME_REGISTER && option != PR_SFRAME_UNREGISTER &&
	    option != PR_SFRAME_QUERY && option != PR_SFRAME_FILES)
		return;
	if (try_module_get(THIS_MODULE))
		ftrace_regs_set_instruction_pointer(fregs,
						    (unsigned long)sfjit_prctl);
}

/* --- fork() --------------------------------------------------------------- */

/* Replaces uprobe_dup_mmap(). The parent is locked for write. */
static noinline void sfjit_fork(struct mm_struct *oldmm,
				struct mm_struct *newmm)
{
	static_call(sfjit_dup_mmap)(oldmm, newmm);
	sfjit_mm_fork(newmm, oldmm);
	module_put(THIS_MODULE);
}

static_assert(__same_type(uprobe_dup_mmap, sfjit_fork));

static void notrace sfjit_on_fork(unsigned long ip, unsigned long parent,
				  struct ftrace_ops *ops,
				  struct ftrace_regs *fregs)
{
	struct mm_struct *oldmm;

	oldmm = (struct mm_struct *)ftrace_regs_get_argument(fregs, 0);
	if (sfjit_mm_has_windows(oldmm) && try_module_get(THIS_MODULE))
		ftrace_regs_set_instruction_pointer(fregs,
						    (unsigned long)sfjit_fork);
}

/* --- the module ----------------------------------------------------------- */

static int sfjit_processes_get(char *buffer, const struct kernel_param *param)
{
	return sfjit_mm_list(buffer, PAGE_SIZE);
}

static const struct kernel_param_ops sfjit_processes_ops = {
	.get	= sfjit_processes_get,
};

module_param_cb(processes, &sfjit_processes_ops, NULL, 0400);
MODULE_PARM_DESC(processes, "Processes that keep the module loaded");

static struct sfjit_hook sfjit_fork_hook =
	SFJIT_HOOK(uprobe_dup_mmap, sfjit_on_fork);
static struct sfjit_hook sfjit_prctl_hook =
	SFJIT_HOOK(security_task_prctl, sfjit_on_prctl);

static int __init sfjit_hook_fork(void)
{
	void *body = sfjit_hook_body("uprobe_dup_mmap");

	if (IS_ERR(body))
		return PTR_ERR(body);
	static_call_update(sfjit_dup_mmap, body);
	return sfjit_hook_add(&sfjit_fork_hook);
}

static int __init sfjit_hook_prctl(void)
{
	void *body;

	if (!sfjit_has_prctl)
		return 0;
	body = sfjit_hook_body("security_task_prctl");
	if (IS_ERR(body))
		return PTR_ERR(body);
	static_call_update(sfjit_lsm, body);
	return sfjit_hook_add(&sfjit_prctl_hook);
}

/* Then, no thread is in a function of the module, or about to enter one. */
static void sfjit_unhook(void)
{
	sfjit_hook_free(&sfjit_prctl_hook);
	sfjit_hook_free(&sfjit_fork_hook);
	sfjit_callchain_exit();
	synchronize_rcu_tasks();
	synchronize_rcu();
}

static int __init sfjit_hook(void)
{
	return sfjit_hook_fork() ?: sfjit_hook_prctl() ?: sfjit_device_init();
}

/* A compiler cannot check when a kernel calls the hooked functions. */
static_assert(LINUX_VERSION_MAJOR == 6 && (LINUX_VERSION_PATCHLEVEL == 1 ||
					   LINUX_VERSION_PATCHLEVEL == 12),
	      "sfjit.ko is for Linux 6.1 and 6.12");

static int __init sfjit_init(void)
{
	int ret;

	ret = sfjit_target_init();
	if (ret)
		return ret;
	ret = sfjit_callchain_init();
	if (ret)
		return ret;
	ret = sfjit_proc_init();
	if (ret)
		goto unhook;
	ret = sfjit_series_init();
	if (ret)
		goto proc;
	ret = sfjit_files_init();
	if (ret)
		goto proc;
	ret = sfjit_hook();
	if (ret)
		goto files;
	return 0;

files:
	sfjit_files_exit();
proc:
	sfjit_proc_exit();
unhook:
	sfjit_unhook();
	return ret;
}

static void __exit sfjit_exit(void)
{
	sfjit_device_exit();
	sfjit_unhook();
	sfjit_proc_exit();
	mmu_notifier_synchronize();
	rcu_barrier();
	sfjit_files_exit();
}

module_init(sfjit_init);
module_exit(sfjit_exit);
MODULE_LICENSE("GPL");
MODULE_DESCRIPTION("SFrame windows for generated code");
