/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Helpers that the decoders of both formats use in a step: build rules, and
 * read the stack by them. They may be called in an access section.
 */
#ifndef _KERNEL_UNWIND_SFRAME_STEP_H
#define _KERNEL_UNWIND_SFRAME_STEP_H

#include <asm/unwind_user_sframe.h>

#include "signal.h"
#include "user.h"

#ifndef UNWIND_USER_REGNUM_LR
#define UNWIND_USER_REGNUM_LR	U32_MAX		/* no link register */
#endif

/* The caller's stack pointer is at CFA + SP_OFF. */
#ifndef UNWIND_USER_SFRAME_SP_OFF
#define UNWIND_USER_SFRAME_SP_OFF	0
#endif

/* *@val = the word of a section at @addr, as unwind_user_get() */
#define sframe_get(state, val, addr)					\
	unwind_user_get(state, val, unwind_user_table_ptr(addr))

static __always_inline void sframe_set_rule(struct unwind_user_rule *rule,
					    u8 from, s32 off)
{
	rule->from = from;
	rule->regnum = 0;
	rule->off = off;
}

static __always_inline void
sframe_set_register(struct unwind_user_rule *rule, u16 regnum, s32 off)
{
	sframe_set_rule(rule, UNWIND_USER_FROM_REG, off);
	rule->regnum = regnum;
	if (regnum == UNWIND_USER_REGNUM_SP)
		rule->from = UNWIND_USER_FROM_SP;
	else if (regnum == UNWIND_USER_REGNUM_FP)
		rule->from = UNWIND_USER_FROM_FP;
	else if (regnum == UNWIND_USER_REGNUM_LR)
		rule->from = UNWIND_USER_FROM_LR;
}

/* Defaults that a row may override. */
static __always_inline void sframe_init_frame(struct unwind_user_frame *frame)
{
	if (UNWIND_USER_SFRAME_RA_OFF)
		sframe_set_rule(&frame->ra,
				UNWIND_USER_FROM_CFA | UNWIND_USER_DEREF,
				UNWIND_USER_SFRAME_RA_OFF);
	else
		sframe_set_rule(&frame->ra, UNWIND_USER_FROM_LR, 0);
	sframe_set_rule(&frame->fp, UNWIND_USER_FROM_NONE, 0);
	frame->cfa_addend = 0;
	frame->sp_off = UNWIND_USER_SFRAME_SP_OFF;
	frame->kind = UNWIND_USER_FRAME_PLAIN;
	frame->ra_copied = false;
	frame->exact = false;
	frame->third = UNWIND_USER_THIRD_UNKNOWN;
}

/* Is the frame's RA where a call, or the function itself, saved it? */
static __always_inline bool
sframe_is_called(const struct unwind_user_frame *frame)
{
	switch (frame->ra.from) {
	case UNWIND_USER_FROM_CFA | UNWIND_USER_DEREF:
		return frame->ra.off < 0;
	case UNWIND_USER_FROM_FP | UNWIND_USER_DEREF:
	case UNWIND_USER_FROM_LR:
		return true;
	default:
		return false;
	}
}

/*
 * The signal bit means that the caller's address is exact; any function may
 * have it. If no call saved the RA, the function is a sigreturn trampoline.
 * Ignore its rules then: the kernel knows more about its own signal frame.
 */
static __always_inline void
sframe_signal_rules(struct unwind_user_frame *frame)
{
	if (frame->kind == UNWIND_USER_FRAME_OUTERMOST)
		return;
	if (!sframe_is_called(frame)) {
		frame->kind = UNWIND_USER_FRAME_SIGNAL;
		return;
	}
	/* The callers of plain frames do not have exact addresses. */
	frame->kind = UNWIND_USER_FRAME_RULES;
	frame->exact = true;
}

/* Read the caller's registers by a frame's rules. */
static __always_inline enum sframe_reason
sframe_read_stack(struct unwind_user_state *state,
		  const struct unwind_user_frame *frame,
		  struct unwind_user_caller *caller)
{
	switch (frame->kind) {
	case UNWIND_USER_FRAME_PLAIN:
		return unwind_user_read_plain(state, frame, sizeof(long),
					      caller);
	case UNWIND_USER_FRAME_RULES:
		return unwind_user_read_rules(state, frame, caller);
	case UNWIND_USER_FRAME_SIGNAL:
		return unwind_user_read_signal(state, caller);
	default:
		return SFRAME_REASON_NONE;
	}
}

#endif /* _KERNEL_UNWIND_SFRAME_STEP_H */
