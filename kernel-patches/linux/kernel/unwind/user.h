/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Read the stack and step to the caller.
 *
 * Nothing here takes a page fault: it may run in an NMI. A walker that may
 * sleep faults in the page at state->fault and repeats the step.
 *
 * A step makes all its reads in one access section. No function may be called
 * there, so unwind_user_enter() does the rest of the step after it.
 */
#ifndef _KERNEL_UNWIND_USER_H
#define _KERNEL_UNWIND_USER_H

#include <linux/errno.h>
#include <linux/nospec.h>
#include <linux/security.h>
#include <linux/sizes.h>
#include <linux/uaccess.h>
#include <linux/unwind_user.h>

#include "reason.h"

/*
 * Open the access section of a step; user_read_access_end() closes it. The words
 * that a step reads may be anywhere, so there is no one address to check here:
 * mask or check each pointer where it is used. NULL is a user address and never
 * refused. Callers must have disabled page faults and checked
 * nmi_uaccess_okay().
 */
static __always_inline void unwind_user_access_begin(void)
{
	if (can_do_masked_user_access())
		(void)masked_user_read_access_begin((const void __user *)NULL);
	else if (!user_read_access_begin((const void __user *)NULL, 1))
		unreachable();
}

/*
 * A pointer to a word of the stack. User space controls the address, so a
 * branch is not enough: the CPU may speculate past it with a kernel address,
 * and leave a trace of what it reads there. It does not speculate past a mask,
 * which is arithmetic. A bad address faults once it is masked.
 */
static __always_inline const void __user *
unwind_user_stack_ptr(unsigned long addr)
{
	if (can_do_masked_user_access())
		return mask_user_address((const void __user *)addr);
	return (const void __user *)array_index_nospec(addr, TASK_SIZE_MAX);
}

/*
 * A pointer to a word of a table: the base, which was checked at registration
 * and may have a tag, plus an offset that is bounds-checked before use. A CPU
 * that speculates past the check gets at most 64 GiB past user memory.
 * Architectures without masks have no kernel memory that close.
 */
static __always_inline const void __user *
unwind_user_table_ptr(unsigned long addr)
{
	if (can_do_masked_user_access())
		return mask_user_address((const u8 __user *)addr);
	return (const u8 __user *)addr;
}

/* If there is no mask, check the address. */
static __always_inline bool unwind_user_stack_ok(unsigned long addr)
{
	return can_do_masked_user_access() || addr < TASK_SIZE_MAX;
}

/* *@val = *@ptr in an access section; on a fault, note the page: false */
#define unwind_user_get(state, val, ptr)				\
({									\
	__label__ fault;						\
	const typeof(*(val)) __user *__ptr = (const void __user *)(ptr); \
	bool __ok = false;						\
									\
	unsafe_get_user(*(val), __ptr, fault);				\
	__ok = true;							\
fault:									\
	if (!__ok) {							\
		(state)->fault = (unsigned long)__ptr;			\
		(state)->fault_size = sizeof(*(val));			\
	}								\
	__ok;								\
})

/* @ws is @state->ws, but may be a constant. */
static __always_inline enum sframe_reason
unwind_user_get_word(struct unwind_user_state *state, unsigned long *word,
		     unsigned long addr, unsigned int ws)
{
	const void __user *ptr = unwind_user_stack_ptr(addr);
	u32 half;

	if (!unwind_user_stack_ok(addr)) {
		state->fault = addr;
		state->fault_size = ws;
		return SFRAME_REASON_STACK_FAULT;
	}
	if (!IS_ENABLED(CONFIG_COMPAT) || likely(ws == sizeof(*word)))
		return unwind_user_get(state, word, ptr) ?
		       SFRAME_REASON_NONE : SFRAME_REASON_STACK_FAULT;
	if (!unwind_user_get(state, &half, ptr))
		return SFRAME_REASON_STACK_FAULT;
	*word = half;
	return SFRAME_REASON_NONE;
}

/*
 * Is a frame record at the top of its frame? If not, a step by frame pointer
 * only finds a lower bound of the caller's stack pointer.
 */
#ifndef UNWIND_USER_FP_GIVES_SP
#define UNWIND_USER_FP_GIVES_SP	1
#endif

static __always_inline bool
unwind_user_sp_known(const struct unwind_user_state *state)
{
	return UNWIND_USER_FP_GIVES_SP || likely(!state->sp_bound);
}

/*
 * The frame pointer after a step that does not find it. It is not aligned, so
 * no frame can be there.
 */
#define UNWIND_USER_NO_FP	(~0UL)

/* Does each step find the frame pointer? */
#ifndef UNWIND_USER_FP_TRACKED
#define UNWIND_USER_FP_TRACKED	1
#endif

static __always_inline bool
unwind_user_fp_known(const struct unwind_user_state *state)
{
	return UNWIND_USER_FP_TRACKED || state->fp != UNWIND_USER_NO_FP;
}

/* Is the caller's stack pointer the CFA? If not, frame->sp_off is added. */
#ifndef UNWIND_USER_SP_IS_CFA
#define UNWIND_USER_SP_IS_CFA	1
#endif

static __always_inline unsigned long
unwind_user_caller_sp(const struct unwind_user_frame *frame, unsigned long cfa)
{
	return UNWIND_USER_SP_IS_CFA ? cfa : cfa + frame->sp_off;
}

/* The DWARF number of the third register. */
#ifndef UNWIND_USER_REGNUM_THIRD
#define UNWIND_USER_REGNUM_THIRD	U32_MAX
#endif

#define UNWIND_USER_HAS_THIRD	(UNWIND_USER_REGNUM_THIRD != U32_MAX)

/* Where the caller's third register is stored, like state->third. */
static __always_inline unsigned long
unwind_user_caller_third(const struct unwind_user_state *state,
			 const struct unwind_user_frame *frame,
			 unsigned long cfa)
{
	if (!UNWIND_USER_HAS_THIRD || frame->third == UNWIND_USER_THIRD_UNKNOWN)
		return 0;
	if (frame->third == UNWIND_USER_THIRD_KEPT)
		return state->third;
	return cfa - frame->third * sizeof(long);
}

static __always_inline enum sframe_reason
unwind_user_get_reg(struct unwind_user_state *state, u16 regnum,
		    unsigned long *val)
{
	const bool third = regnum == UNWIND_USER_REGNUM_THIRD;

	/* A callee may have overwritten any other register. */
	if (third ? state->third == UNWIND_USER_IN_REGS : state->topmost)
		return state->regs && unwind_user_reg(state->regs, regnum, val) ?
		       SFRAME_REASON_NONE : SFRAME_REASON_ROW_REGISTER;
	if (!third || !state->third)
		return SFRAME_REASON_ROW_REGISTER;
	/* Charge one more read than for other registers. */
	state->sframe.slack--;
	return unwind_user_get_word(state, val, state->third, state->ws);
}

static __always_inline enum sframe_reason
unwind_user_get_base(struct unwind_user_state *state,
		     const struct unwind_user_rule *rule, unsigned long *base)
{
	bool known;

	switch (rule->from & ~UNWIND_USER_DEREF) {
	case UNWIND_USER_FROM_SP:
		*base = state->sp;
		known = unwind_user_sp_known(state);
		break;
	case UNWIND_USER_FROM_FP:
		*base = state->fp;
		known = unwind_user_fp_known(state);
		break;
	case UNWIND_USER_FROM_LR:
		/* A call has overwritten it in any other frame. */
		*base = state->lr;
		known = state->topmost;
		break;
	default:
		return unwind_user_get_reg(state, rule->regnum, base);
	}
	return known ? SFRAME_REASON_NONE : SFRAME_REASON_ROW_REGISTER;
}

/* *@val = the value of a rule */
static __always_inline enum sframe_reason
unwind_user_get_value(struct unwind_user_state *state,
		      const struct unwind_user_rule *rule, unsigned long cfa,
		      unsigned long *val)
{
	enum sframe_reason reason;

	if (rule->from == UNWIND_USER_FROM_NONE)
		return SFRAME_REASON_NONE;
	if ((rule->from & ~UNWIND_USER_DEREF) != UNWIND_USER_FROM_CFA) {
		reason = unwind_user_get_base(state, rule, &cfa);
		if (reason)
			return reason;
	}
	if (rule->from & UNWIND_USER_DEREF)
		return unwind_user_get_word(state, val, cfa + rule->off,
					    state->ws);
	*val = cfa + rule->off;
	return SFRAME_REASON_NONE;
}

/**
 * struct unwind_user_caller - registers of a caller, as they were read
 * @cfa:	canonical frame address of the callee
 * @sp:		stack pointer
 * @ra:		return address
 * @fp:		frame pointer
 * @lr:		link register, if a signal interrupted the caller
 * @third:	where the third register is stored, like state->third
 */
struct unwind_user_caller {
	unsigned long	cfa;
	unsigned long	sp;
	unsigned long	ra;
	unsigned long	fp;
	unsigned long	lr;
	unsigned long	third;
};

/*
 * Steps to a lower stack in one walk. This limit and UNWIND_USER_MAX_SIGNALS
 * keep a forged stack from looping.
 */
#define UNWIND_USER_MAX_SWITCHES	8

/*
 * May the caller's frame be on another, lower stack? It cannot be just below
 * the stack pointer: this stack is there, with the frames of functions that
 * have returned. A signal alone needs more than a page there.
 */
static __always_inline bool
unwind_user_may_switch(const struct unwind_user_state *state, unsigned long sp,
		       unsigned int ws)
{
	return IS_ENABLED(CONFIG_HAVE_UNWIND_USER_TEXT) && ws == sizeof(long) &&
	       sp < state->sp && state->sp - sp >= SZ_4K && sp >= mmap_min_addr &&
	       !(sp & (ws - 1)) && state->switches < UNWIND_USER_MAX_SWITCHES;
}

/*
 * Check the caller's stack pointer. It must not go down, except to another
 * stack, which an offset from this stack pointer cannot reach. Only the caller
 * of a topmost frame may have the same one. A call leaves it word-aligned.
 */
static __always_inline enum sframe_reason
unwind_user_check_sp(const struct unwind_user_state *state,
		     const struct unwind_user_frame *frame, unsigned long sp,
		     unsigned int ws)
{
	if (unlikely(sp <= state->sp) &&
	    (sp < state->sp || !state->topmost))
		return frame->cfa.from != UNWIND_USER_FROM_SP &&
		       unwind_user_may_switch(state, sp, ws) ?
		       SFRAME_REASON_NONE : SFRAME_REASON_CFA_ORDER;
	if (unlikely(sp & (ws - 1)))
		return SFRAME_REASON_CFA_ALIGN;
	return SFRAME_REASON_NONE;
}

/*
 * Find the CFA of a frame whose stack pointer is not known, since a frame
 * pointer led to it. If the frame has a frame record, which is the saved frame
 * pointer and then the return address, the frame pointer points to it. The
 * stack pointer that follows from this CFA must not be below the bound.
 */
static __always_inline bool
unwind_user_record_cfa(const struct unwind_user_state *state,
		       const struct unwind_user_frame *frame, unsigned int ws,
		       unsigned long *cfa)
{
	*cfa = state->fp - frame->fp.off;
	return frame->fp.from != UNWIND_USER_FROM_NONE &&
	       frame->ra.off == frame->fp.off + (s32)ws &&
	       *cfa - frame->cfa.off >= state->sp;
}

/*
 * Read the caller's registers by the rules of a plain @frame, in an access
 * section. @ws is that of @state.
 */
static __always_inline enum sframe_reason
unwind_user_read_plain(struct unwind_user_state *state,
		       const struct unwind_user_frame *frame, unsigned int ws,
		       struct unwind_user_caller *caller)
{
	enum sframe_reason reason;
	unsigned long cfa, ra;

	if (frame->cfa.from != UNWIND_USER_FROM_SP) {
		if (!unwind_user_fp_known(state))
			return SFRAME_REASON_ROW_REGISTER;
		cfa = state->fp + frame->cfa.off;
	} else if (unwind_user_sp_known(state)) {
		cfa = state->sp + frame->cfa.off;
	} else if (!unwind_user_record_cfa(state, frame, ws, &cfa)) {
		return SFRAME_REASON_ROW_REGISTER;
	}
	caller->cfa = cfa;
	caller->sp = unwind_user_caller_sp(frame, cfa);
	reason = unwind_user_check_sp(state, frame, caller->sp, ws);
	if (reason)
		return reason;

	caller->third = unwind_user_caller_third(state, frame, cfa);
	caller->fp = state->fp;
	if (frame->fp.from != UNWIND_USER_FROM_NONE &&
	    unwind_user_get_word(state, &caller->fp, cfa + frame->fp.off, ws))
		return SFRAME_REASON_STACK_FAULT;
	if (unwind_user_get_word(state, &ra, cfa + frame->ra.off, ws))
		return SFRAME_REASON_STACK_FAULT;
	caller->ra = unwind_user_strip_ra(ra);
	return SFRAME_REASON_NONE;
}

/* The same for a frame with any rules. */
static __always_inline enum sframe_reason
unwind_user_read_rules(struct unwind_user_state *state,
		       const struct unwind_user_frame *frame,
		       struct unwind_user_caller *caller)
{
	unsigned long cfa = 0, ra = 0, fp = state->fp;
	enum sframe_reason reason;

	reason = unwind_user_get_value(state, &frame->cfa, 0, &cfa);
	if (reason)
		return reason;
	cfa += frame->cfa_addend;
	caller->cfa = cfa;
	caller->sp = unwind_user_caller_sp(frame, cfa);
	reason = unwind_user_check_sp(state, frame, caller->sp, state->ws);
	if (reason)
		return reason;
	reason = unwind_user_get_value(state, &frame->ra, cfa, &ra);
	if (reason)
		return reason;
	reason = unwind_user_get_value(state, &frame->fp, cfa, &fp);
	if (reason)
		return reason;

	caller->ra = unwind_user_strip_ra(ra);
	caller->fp = fp;
	caller->third = unwind_user_caller_third(state, frame, cfa);
	return SFRAME_REASON_NONE;
}

int unwind_user_undo_probe(struct unwind_user_state *state,
			   struct unwind_user_caller *caller, bool ra_copied);

/*
 * Can @ip be text? Nothing is mapped below mmap_min_addr, nor at 0. perf treats
 * addresses from PERF_CONTEXT_MAX on as context markers, and drops callchains
 * with an unknown one.
 */
static __always_inline bool unwind_user_text(unsigned long ip)
{
	return ip && ip >= mmap_min_addr && ip < TASK_SIZE_MAX;
}

#ifdef CONFIG_HAVE_UNWIND_USER_TEXT
enum sframe_reason unwind_user_switch(struct unwind_user_state *state,
				      unsigned long fp, unsigned long ra,
				      bool chained);
int unwind_user_step_entered(struct unwind_user_state *state);
#else
static inline int unwind_user_step_entered(struct unwind_user_state *state)
{
	return -ENOENT;
}

static inline enum sframe_reason
unwind_user_switch(struct unwind_user_state *state, unsigned long fp,
		   unsigned long ra, bool chained)
{
	return SFRAME_REASON_CFA_ORDER;
}
#endif

/* Move the walk to the caller. Not in an access section. */
static __always_inline enum sframe_reason
unwind_user_enter(struct unwind_user_state *state,
		  const struct unwind_user_caller *caller, bool ra_copied)
{
	struct unwind_user_caller probed __uninitialized;
	unsigned long ra = caller->ra, sp = caller->sp;
	enum sframe_reason reason;

	if (unlikely(state->ri)) {
		probed = *caller;
		if (unwind_user_undo_probe(state, &probed, ra_copied))
			return SFRAME_REASON_RETURN_PROBE;
		ra = probed.ra;
		sp = probed.sp;
	}

	if (unlikely(!unwind_user_text(ra)))
		return ra ? SFRAME_REASON_RETURN_ADDRESS :
			    SFRAME_REASON_NO_CALLER;
	if (unlikely(caller->sp < state->sp)) {
		reason = unwind_user_switch(state, caller->fp, ra, ra_copied);
		if (reason)
			return reason;
	}

	state->ip = ra;
	state->sp = sp;
	state->fp = caller->fp;
	state->third = caller->third;
	state->topmost = false;
	state->exact_ip = false;
	state->sp_bound = false;
	return SFRAME_REASON_NONE;
}

/*
 * Refuse the step.
 *
 * Return: -EFAULT if faulting in a page may help, or -EINVAL.
 */
static __always_inline int
unwind_user_refuse(struct unwind_user_state *state, enum sframe_reason reason)
{
	state->reason = reason;
	if (reason == SFRAME_REASON_SECTION_FAULT ||
	    reason == SFRAME_REASON_STACK_FAULT)
		return -EFAULT;
	return -EINVAL;
}

/*
 * Step to the caller of a plain frame. @ws is that of @state.
 *
 * Return: 0, or as unwind_user_refuse().
 */
static __always_inline int
unwind_user_step_plain(struct unwind_user_state *state,
		       const struct unwind_user_frame *frame, unsigned int ws)
{
	struct unwind_user_caller caller __uninitialized;
	enum sframe_reason reason;

	unwind_user_access_begin();
	reason = unwind_user_read_plain(state, frame, ws, &caller);
	user_read_access_end();
	if (!reason)
		reason = unwind_user_enter(state, &caller, frame->ra_copied);
	return reason ? unwind_user_refuse(state, reason) : 0;
}

int unwind_user_step_entry(struct unwind_user_state *state);

/* The same by frame pointer. */
static __always_inline int
unwind_user_step_fp(struct unwind_user_state *state, unsigned int ws)
{
	const struct unwind_user_frame frame = {
		ARCH_INIT_USER_FP_FRAME(ws)
		.ra_copied = true,
	};
	int ret;

	if (unlikely(state->topmost)) {
		if (state->regs && unwind_user_at_function_start(state->regs))
			return unwind_user_step_entry(state);
		/* Only with windows: do not change the walks of other tasks. */
		if (state->sframe.reg && !unwind_user_step_entered(state))
			return 0;
	}

	/* A frame pointer below the stack pointer is on another stack. */
	if (unlikely(state->fp < state->sp) &&
	    !unwind_user_may_switch(state, state->fp + 2 * ws, ws))
		return unwind_user_refuse(state, SFRAME_REASON_CFA_ORDER);
	ret = unwind_user_step_plain(state, &frame, ws);
	if (!UNWIND_USER_FP_GIVES_SP && !ret)
		state->sp_bound = true;
	return ret;
}

#ifdef CONFIG_HAVE_UNWIND_USER_BACKCHAIN

static __always_inline enum sframe_reason
unwind_user_read_backchain(struct unwind_user_state *state,
			   const struct unwind_user_frame *frame,
			   struct unwind_user_caller *caller)
{
	enum sframe_reason reason = unwind_user_read_rules(state, frame, caller);

	if (reason)
		return reason;
	/* No instruction is at an odd address. */
	if (caller->ra & 1)
		return SFRAME_REASON_RETURN_ADDRESS;
	caller->fp = UNWIND_USER_NO_FP;
	return SFRAME_REASON_NONE;
}

static __always_inline int
unwind_user_step_rules(struct unwind_user_state *state,
		       const struct unwind_user_frame *frame)
{
	struct unwind_user_caller caller __uninitialized;
	enum sframe_reason reason;

	unwind_user_access_begin();
	reason = unwind_user_read_backchain(state, frame, &caller);
	user_read_access_end();
	if (!reason)
		reason = unwind_user_enter(state, &caller, frame->ra_copied);
	return reason ? unwind_user_refuse(state, reason) : 0;
}

/* Step to the frame that the back chain points to. */
static inline int unwind_user_step_backchain(struct unwind_user_state *state)
{
	static const struct unwind_user_frame chained = {
		ARCH_INIT_USER_BACKCHAIN_FRAME
	};
	static const struct unwind_user_frame vdso = {
		ARCH_INIT_USER_VDSO_FRAME
	};
	int ret = unwind_user_step_rules(state, &chained);

	if (ret && state->reason == SFRAME_REASON_CFA_ORDER &&
	    unwind_user_in_vdso(state->ip))
		return unwind_user_step_rules(state, &vdso);
	return ret;
}

#else

static __always_inline enum sframe_reason
unwind_user_read_backchain(struct unwind_user_state *state,
			   const struct unwind_user_frame *frame,
			   struct unwind_user_caller *caller)
{
	return SFRAME_REASON_ROW_REGISTER;
}

static inline int unwind_user_step_backchain(struct unwind_user_state *state)
{
	return -ENOENT;
}

#endif

/* Step outside of windows, for tasks with the kernel's word size. */
static __always_inline int
unwind_user_step_fallback(struct unwind_user_state *state)
{
	if (IS_ENABLED(CONFIG_HAVE_UNWIND_USER_FP))
		return unwind_user_step_fp(state, sizeof(long));
	return unwind_user_step_backchain(state);
}

bool unwind_user_init(struct unwind_user_state *state, struct pt_regs *regs);

#endif /* _KERNEL_UNWIND_USER_H */
