/* SPDX-License-Identifier: GPL-2.0 */
/*
 * SPDX-FileCopyrightText: 2026 The sfjit authors
 *
 * A system call whose caller's frame is anywhere.
 */
#ifndef SFRAME_BELOW_H
#define SFRAME_BELOW_H

/*
 * With the frame pointer at @frame. A walk only goes up, so the stack pointer
 * must not be above it.
 */
static inline long call_below(void *frame, long nr, long arg1, const void *arg2,
			      long arg3)
{
	asm volatile("mov	%%rsp, %%r12\n\t"
		     "mov	%%rbp, %%r13\n\t"
		     "mov	%[frame], %%rsp\n\t"
		     "mov	%%rsp, %%rbp\n\t"
		     "syscall\n\t"
		     "mov	%%r13, %%rbp\n\t"
		     "mov	%%r12, %%rsp"
		     : "+a" (nr)
		     : "D" (arg1), "S" (arg2), "d" (arg3), [frame] "r" (frame)
		     : "rcx", "r11", "r12", "r13", "memory");
	return nr;
}

#endif /* SFRAME_BELOW_H */
