/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Why a walk of a user stack ends.
 */
#ifndef _KERNEL_UNWIND_REASON_H
#define _KERNEL_UNWIND_REASON_H

/* Why a step produced no frame. */
enum sframe_reason {
	SFRAME_REASON_NONE,		/* a frame was produced */
	SFRAME_REASON_SECTION_FAULT,	/* section byte not readable */
	SFRAME_REASON_STACK_FAULT,	/* stack word not readable */
	SFRAME_REASON_NO_FDE,		/* no FDE covers the address */
	SFRAME_REASON_NO_ROW,		/* no row covers the address */
	SFRAME_REASON_FDE_ORDER,	/* FDEs are not sorted */
	SFRAME_REASON_FDE_RANGE,	/* FDE leaves the window's text */
	SFRAME_REASON_FDE_TYPE,		/* unknown FDE or row type */
	SFRAME_REASON_FRE_OFFSET,	/* rows outside the section */
	SFRAME_REASON_REP_SIZE,		/* PCMASK block size is 0 */
	SFRAME_REASON_ROW_ORDER,	/* row starts do not increase */
	SFRAME_REASON_ROW_WORDS,	/* data words do not fit the type */
	SFRAME_REASON_ROW_RULE,		/* rule not allowed by the format */
	SFRAME_REASON_ROW_REGISTER,	/* register not known here */
	SFRAME_REASON_CFA_ORDER,	/* CFA does not move up */
	SFRAME_REASON_CFA_ALIGN,	/* CFA is not word aligned */
	SFRAME_REASON_BUDGET,		/* walk looked at too many entries */
	SFRAME_REASON_CHANGED,		/* window was removed meanwhile */
	SFRAME_REASON_SIGNAL,		/* not a signal frame, or too many */
	SFRAME_REASON_RETURN_ADDRESS,	/* return address is not valid */
	SFRAME_REASON_RETURN_PROBE,	/* return probe not found */
	SFRAME_REASON_DEADLINE,		/* walk took too long */
	SFRAME_REASON_NO_CALLER,	/* return address is 0 */
	SFRAME_REASON_FRAME_POINTER,	/* no window, and no frame at the FP */
	SFRAME_NR_REASONS,
};

#endif /* _KERNEL_UNWIND_REASON_H */
