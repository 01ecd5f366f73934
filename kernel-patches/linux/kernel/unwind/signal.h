/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The step from a signal handler's frame to what the signal interrupted.
 */
#ifndef _KERNEL_UNWIND_SIGNAL_H
#define _KERNEL_UNWIND_SIGNAL_H

#include <linux/errno.h>
#include <linux/unwind_user_types.h>

#include <asm/unwind_user_sframe.h>

#include "user.h"

/*
 * Signal frames of one walk. Each may lead anywhere, also back: this is what
 * keeps a made-up stack from being a loop.
 */
#define UNWIND_USER_MAX_SIGNALS	8

/*
 * Take the registers that the kernel saved when it delivered a signal. This is
 * the one step that may leave the stack (SA_ONSTACK). The interrupted frame is
 * like a topmost one, but only some of its registers are known. A failed step
 * leaves the state as it was.
 *
 * Return: 0, -EOPNOTSUPP if there is nothing to follow, or -EFAULT.
 */
static __always_inline int
unwind_user_apply_signal(struct unwind_user_state *state, const bool nofault)
{
	struct unwind_user_sigregs regs;

	if (state->signals == UNWIND_USER_MAX_SIGNALS)
		return -EOPNOTSUPP;

	if (unwind_user_read(&regs, state->sp + UNWIND_USER_SIGREGS_OFF,
			     sizeof(regs), nofault))
		return -EFAULT;

	if (!unwind_user_sigregs_native(&regs))
		return -EOPNOTSUPP;

	state->ip = regs.ip;
	state->sp = regs.sp;
	state->fp = regs.fp;
	state->regs = NULL;
	state->signals++;
	state->topmost = true;
	state->exact_ip = true;
	return 0;
}

#endif /* _KERNEL_UNWIND_SIGNAL_H */
