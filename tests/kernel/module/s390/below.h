/* SPDX-License-Identifier: GPL-2.0 */
/*
 * SPDX-FileCopyrightText: 2026 The sfjit authors
 *
 * A system call whose caller's frame is anywhere.
 */
#ifndef SFRAME_BELOW_H
#define SFRAME_BELOW_H

/*
 * With the back chain at @frame. A walk only goes up, so the stack pointer
 * must not be above it.
 */
static inline long call_below(void *frame, long nr, long arg1, const void *arg2,
			      long arg3)
{
	register long r1 asm("1") = nr;
	register long r2 asm("2") = arg1;
	register const void *r3 asm("3") = arg2;
	register long r4 asm("4") = arg3;

	asm volatile("lgr	%%r5, %%r15\n\t"
		     "lgr	%%r15, %[frame]\n\t"
		     "svc	0\n\t"
		     "lgr	%%r15, %%r5"
		     : "+d" (r2)
		     : "d" (r1), "d" (r3), "d" (r4), [frame] "a" (frame)
		     : "r5", "memory");
	return r2;
}

#endif /* SFRAME_BELOW_H */
