/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Applying the rules of one frame, for walkers that may take page faults and
 * for those that must not. @nofault is a constant in every caller: no function
 * pointer, since the walkers that must not fault run in NMI context.
 *
 * A caller with @nofault has page faults disabled and nmi_uaccess_okay()
 * checked for the whole walk.
 */
#ifndef _KERNEL_UNWIND_USER_H
#define _KERNEL_UNWIND_USER_H

#include <linux/sched.h>
#include <linux/uaccess.h>
#include <linux/unroll.h>
#include <linux/unwind_user.h>

#include "uprobes.h"

/*
 * Reads of unwind tables and rows of one frame, in a table of 10,000 functions
 * with 16 rows each: 14 probes of a search, 16 rows, and the chunks these are
 * read in, 7 for the longest rows and one more where a page ends.
 */
#define UNWIND_USER_FRAME_BUDGET	(14 + 16 + 8)

/*
 * Of one walk: 127 frames without page faults, as perf asks for by default, or
 * 510 frames, which is all that a deferred stack trace can hold. Each read and
 * each row costs much the same, so this bounds the time a walk takes, whatever
 * the tables say and however deep it may go.
 */
#define UNWIND_USER_BUDGET_NOFAULT	(127 * UNWIND_USER_FRAME_BUDGET)
#define UNWIND_USER_BUDGET		(510 * UNWIND_USER_FRAME_BUDGET)

/*
 * Copies of a few words are most of the cost of a step: loads, not a string
 * instruction with its start-up time.
 */
static __always_inline int
unwind_user_read(void *dst, unsigned long addr, unsigned long size,
		 const bool nofault)
{
	const u8 __user *src = (const u8 __user *)addr;
	u8 *to = dst;

	if (!nofault)
		might_fault();
	if (!user_read_access_begin(src, size))
		return -EFAULT;
	/* A probe of a search is two words. */
	unrolled_count(2)
	for (; size >= sizeof(u64); size -= sizeof(u64)) {
		unsafe_get_user(*(u64 *)to, (const u64 __user *)src, efault);
		to += sizeof(u64);
		src += sizeof(u64);
	}
	for (; size; size--)
		unsafe_get_user(*to++, src++, efault);
	user_read_access_end();
	return 0;

efault:
	user_read_access_end();
	return -EFAULT;
}

static __always_inline int
unwind_user_read_long(unsigned long *word, unsigned long addr,
		      const bool nofault)
{
	const unsigned long __user *src = (const unsigned long __user *)addr;

	if (!nofault)
		return get_user(*word, src);
	if (!access_ok(src, sizeof(*src)))
		return -EFAULT;
	return __get_user(*word, src);
}

static __always_inline int
unwind_user_read_u32(unsigned long *word, unsigned long addr,
		     const bool nofault)
{
	const u32 __user *src = (const u32 __user *)addr;

	if (!nofault)
		return get_user(*word, src);
	if (!access_ok(src, sizeof(*src)))
		return -EFAULT;
	return __get_user(*word, src);
}

static __always_inline int
unwind_user_read_word(unsigned long *word, unsigned long addr, unsigned int ws,
		      const bool nofault)
{
	if (IS_ENABLED(CONFIG_COMPAT) && ws == sizeof(u32))
		return unwind_user_read_u32(word, addr, nofault);
	return unwind_user_read_long(word, addr, nofault);
}

/*
 * Return: 0, -ENODATA for a register that is not known in this frame, or
 * -EFAULT for a word that could not be read.
 */
static __always_inline int
unwind_user_apply_rule(const struct unwind_user_state *state,
		       const struct unwind_user_rule *rule,
		       unsigned long cfa, unsigned long *val,
		       const bool nofault)
{
	unsigned long base;

	switch (rule->base) {
	case UNWIND_USER_BASE_NONE:
		return 0;
	case UNWIND_USER_BASE_CFA:
		base = cfa;
		break;
	case UNWIND_USER_BASE_SP:
		base = state->sp;
		break;
	case UNWIND_USER_BASE_FP:
		base = state->fp;
		break;
	case UNWIND_USER_BASE_LR:
		if (!state->topmost)
			return -ENODATA;
		base = state->lr;
		break;
	case UNWIND_USER_BASE_REG:
		/* A callee may have overwritten any other register. */
		if (!state->topmost || !state->regs)
			return -ENODATA;
		if (!unwind_user_reg(state->regs, rule->regnum, &base))
			return -ENODATA;
		break;
	default:
		return -ENODATA;
	}

	base += rule->off;
	if (rule->deref)
		return unwind_user_read_word(val, base, state->ws, nofault);
	*val = base;
	return 0;
}

/*
 * Step to the caller. With @checked the stack must not go down and the CFA
 * must be aligned. A failed step leaves the state as it was.
 *
 * Return: 0, -ELOOP if the CFA does not move up, -EINVAL if it is not
 * aligned, or the error of a rule.
 */
static __always_inline int
unwind_user_apply_frame(struct unwind_user_state *state,
			const struct unwind_user_frame *frame,
			const bool checked, const bool nofault)
{
	const struct unwind_user_frame entry = {
		ARCH_INIT_USER_FP_ENTRY_FRAME(state->ws)
	};
	unsigned long cfa = 0, ra = state->ip, fp = state->fp, slot;
	int ret;

	/* Get the Canonical Frame Address (CFA) */
	ret = unwind_user_apply_rule(state, &frame->cfa, 0, &cfa, nofault);
	if (ret)
		return ret;

	/*
	 * Make sure that stack is not going in wrong direction. Only a topmost
	 * frame can have a caller with the same stack pointer.
	 */
	if (checked && (cfa < state->sp ||
			(cfa == state->sp && !state->topmost)))
		return -ELOOP;

	/* Make sure that the address is word aligned */
	if (checked && (cfa & (state->ws - 1)))
		return -EINVAL;

	/* Get the Return Address (RA) */
	ret = unwind_user_apply_rule(state, &frame->ra, cfa, &ra, nofault);
	if (ret)
		return ret;

	/* Get the Frame Pointer (FP) */
	ret = unwind_user_apply_rule(state, &frame->fp, cfa, &fp, nofault);
	if (ret)
		return ret;

	slot = cfa - entry.cfa.off;
	ret = unwind_user_return_address(state, frame->ra_copied, &slot, &ra);
	if (ret)
		return ret;

	state->ip = ra;
	state->sp = slot + entry.cfa.off;
	state->fp = fp;
	state->topmost = false;
	state->exact_ip = false;
	return 0;
}

/* Step by frame pointer, or across a function whose first insn is probed. */
static __always_inline int
unwind_user_apply_fp(struct unwind_user_state *state, const bool checked,
		     const bool nofault)
{
	const struct unwind_user_frame entry = {
		ARCH_INIT_USER_FP_ENTRY_FRAME(state->ws)
	};
	const struct unwind_user_frame frame = {
		ARCH_INIT_USER_FP_FRAME(state->ws)
		.ra_copied = true,
	};

	if (state->topmost && state->regs &&
	    unwind_user_at_function_start(state->regs))
		return unwind_user_apply_frame(state, &entry, checked, nofault);

	/* A frame pointer below the stack pointer is something else. */
	if (checked && state->fp < state->sp)
		return -ELOOP;

	return unwind_user_apply_frame(state, &frame, checked, nofault);
}

/* Set up @state for the user registers @regs of current. */
static inline bool unwind_user_init(struct unwind_user_state *state,
				    struct pt_regs *regs, unsigned int budget)
{
	memset(state, 0, sizeof(*state));

	state->ip = instruction_pointer(regs);
	state->sp = user_stack_pointer(regs);
	state->fp = frame_pointer(regs);
	state->lr = unwind_user_lr(regs);
	state->ws = unwind_user_word_size(regs);
	state->regs = regs;
	state->budget = budget;
	state->topmost = true;
	state->exact_ip = true;
	unwind_user_init_uprobes(state);
	return state->ws;
}

#endif /* _KERNEL_UNWIND_USER_H */
