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
	register long x8 asm("x8") = nr;
	register long x0 asm("x0") = arg1;
	register const void *x1 asm("x1") = arg2;
	register long x2 asm("x2") = arg3;

	asm volatile("mov	x9, sp\n\t"
		     "mov	x10, x29\n\t"
		     "mov	sp, %[frame]\n\t"
		     "mov	x29, %[frame]\n\t"
		     "svc	#0\n\t"
		     "mov	x29, x10\n\t"
		     "mov	sp, x9"
		     : "+r" (x0)
		     : "r" (x8), "r" (x1), "r" (x2), [frame] "r" (frame)
		     : "x9", "x10", "memory");
	return x0;
}

#endif /* SFRAME_BELOW_H */
