// SPDX-License-Identifier: GPL-2.0
// SPDX-FileCopyrightText: 2026 The sfjit authors
/*
 * Divert perf_callchain_user() for processes with windows, and for all while
 * files may have tables. Otherwise it is not hooked.
 */
#include <linux/mutex.h>
#include <linux/static_call.h>
#include <linux/workqueue.h>

#include <asm/perf_event.h>

#include "series.h"
#include "user.h"
#include "hooks.h"
#include "sfjit.h"

/* Patching text is slow: a user must not be able to trigger it at will. */
#define SFJIT_IDLE	(60 * HZ)

static bool sfjit_no_uaccess(void)
{
	return false;
}

static unsigned long sfjit_no_trampoline(void)
{
	return -1UL;
}

static int sfjit_no_insn_decode(struct insn *insn, const void *code, int length,
				enum insn_mode mode)
{
	return -EINVAL;
}

/* Not exported. Static calls are direct calls, so IBT permits them. */
DEFINE_STATIC_CALL(sfjit_uaccess, sfjit_no_uaccess);
DEFINE_STATIC_CALL(sfjit_trampoline, sfjit_no_trampoline);
DEFINE_STATIC_CALL(sfjit_decode, sfjit_no_insn_decode);

unsigned long sfjit_trampoline_vaddr(void)
{
	return static_call(sfjit_trampoline)();
}

int sfjit_insn_decode(struct insn *insn, const void *code, int length,
		      enum insn_mode mode)
{
	return static_call(sfjit_decode)(insn, code, length, mode);
}

/* The uprobe that is being handled. Kernels before 6.11 do not record it. */
static const struct arch_uprobe *sfjit_uprobe(void)
{
#if LINUX_VERSION_CODE >= KERNEL_VERSION(6, 11, 0)
	return current->utask ? current->utask->auprobe : NULL;
#else
	return NULL;
#endif
}

/* As is_uprobe_at_func_entry(). */
bool sfjit_at_func_entry(struct pt_regs *regs)
{
	const struct arch_uprobe *auprobe = sfjit_uprobe();

	return auprobe && (auprobe->insn[0] == 0x55 ||
			   !memcmp(auprobe->insn, "\xf3\x0f\x1e\xfa", 4));
}

/* The windows were removed after the hook checked for them. */
static void sfjit_frame_pointers(struct perf_callchain_entry_ctx *entry,
				 struct pt_regs *regs)
{
	struct unwind_user_state state;

	if (!unwind_user_init(&state, regs))
		return;
	while (entry->nr < entry->max_stack &&
	       !unwind_user_step_fallback(&state))
		if (perf_callchain_store(entry, state.ip))
			break;
}

/* The sample interrupted a registration on this CPU. */
static void sfjit_refuse(struct pt_regs *regs)
{
	struct unwind_user_state state;

	guard(rcu)();
	if (!unwind_user_init(&state, regs) || !sframe_walk_init(&state, 1, true))
		return;
	state.reason = SFRAME_REASON_CHANGED;
	sframe_refused(&state);
}

/* Replaces perf_callchain_user(). */
static noinline void sfjit_callchain_user(struct perf_callchain_entry_ctx *entry,
					  struct pt_regs *regs)
{
	perf_callchain_store(entry, regs->ip);
	if (!static_call(sfjit_uaccess)())
		return;
	guard(preempt)();
	guard(pagefault)();
	if (sfjit_tree_changes())
		sfjit_refuse(regs);
	else if (!sframe_callchain_user(entry, regs))
		sfjit_frame_pointers(entry, regs);
}

static_assert(__same_type(perf_callchain_user, sfjit_callchain_user));

static void notrace sfjit_on_callchain(unsigned long ip, unsigned long parent,
				       struct ftrace_ops *ops,
				       struct ftrace_regs *fregs)
{
	struct pt_regs *regs;

	/* Samples of a guest do not show the stack of current. */
	if (!current->mm || current->flags & PF_VCPU ||
	    (!sfjit_mm_has_windows(current->mm) && !sframe_has_files()))
		return;
	regs = (struct pt_regs *)ftrace_regs_get_argument(fregs, 1);
	if (regs->flags & (X86_VM_MASK | PERF_EFLAGS_VM) ||
	    !user_64bit_mode(regs) || !sframe_walk_limit())
		return;
	ftrace_regs_set_instruction_pointer(fregs,
					    (unsigned long)sfjit_callchain_user);
}

static struct sfjit_hook sfjit_callchain =
	SFJIT_HOOK(perf_callchain_user, sfjit_on_callchain);

/* Protects the hook. Do not take locks of an address space while holding it. */
static DEFINE_MUTEX(sfjit_callchain_lock);

/* Registrations that have asked for the hook but may have no entry yet. */
static unsigned int sfjit_nr_wanting;

static void sfjit_idle(struct work_struct *work);
static DECLARE_DELAYED_WORK(sfjit_idle_work, sfjit_idle);
static bool sfjit_was_idle;

static void sfjit_idle(struct work_struct *work)
{
	bool idle;

	guard(mutex)(&sfjit_callchain_lock);
	idle = !sfjit_nr_wanting && !sfjit_mm_count() && !sframe_has_files();
	if (idle && sfjit_was_idle) {
		sfjit_hook_remove(&sfjit_callchain);
		return;
	}
	sfjit_was_idle = idle;
	schedule_delayed_work(&sfjit_idle_work, SFJIT_IDLE);
}

/**
 * sfjit_callchain_want - have call chains hooked before a registration
 *
 * Return: 0, after which sfjit_callchain_wanted() follows, or an error.
 */
int sfjit_callchain_want(void)
{
	int ret = 0;

	guard(mutex)(&sfjit_callchain_lock);
	if (!sfjit_callchain.active) {
		ret = sfjit_hook_add(&sfjit_callchain);
		if (ret)
			return ret;
		schedule_delayed_work(&sfjit_idle_work, SFJIT_IDLE);
	}
	sfjit_was_idle = false;
	sfjit_nr_wanting++;
	return 0;
}

/* End sfjit_callchain_want(): the registration has made its entry or failed. */
void sfjit_callchain_wanted(void)
{
	guard(mutex)(&sfjit_callchain_lock);
	sfjit_nr_wanting--;
}

/* Kernels before 6.11 hide it; the default never matches a return address. */
static int sfjit_find_trampoline(void)
{
#if LINUX_VERSION_CODE >= KERNEL_VERSION(6, 11, 0)
	void *trampoline = sfjit_hook_entry("uprobe_get_trampoline_vaddr");

	if (IS_ERR(trampoline))
		return PTR_ERR(trampoline);
	static_call_update(sfjit_trampoline, trampoline);
#endif
	return 0;
}

/* Check now that it can be hooked, not at the first registration. */
int sfjit_callchain_init(void)
{
	void *uaccess = sfjit_hook_entry("nmi_uaccess_okay");
	void *decode = sfjit_hook_entry("insn_decode");
	void *body = sfjit_hook_body("perf_callchain_user");
	int ret;

	if (IS_ERR(uaccess) || IS_ERR(decode) || IS_ERR(body) ||
	    sfjit_find_trampoline())
		return -ENOENT;
	static_call_update(sfjit_uaccess, uaccess);
	static_call_update(sfjit_decode, decode);
	ret = sfjit_hook_add(&sfjit_callchain);
	if (ret)
		sfjit_hook_free(&sfjit_callchain);
	else
		sfjit_hook_remove(&sfjit_callchain);
	return ret;
}

void sfjit_callchain_exit(void)
{
	cancel_delayed_work_sync(&sfjit_idle_work);
	sfjit_hook_free(&sfjit_callchain);
}
