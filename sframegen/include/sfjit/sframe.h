/* SPDX-License-Identifier: (GPL-2.0 WITH Linux-syscall-note) OR MIT */
/*
 * SFrame windows: registration ABI (prototype, version 0).
 *
 * A window is a range of executable addresses together with the SFrame
 * section that describes it. User space owns the section; the kernel keeps
 * only its address and reads it, as untrusted data, when a stack is walked.
 */
#ifndef _UAPI_LINUX_SFRAME_H
#define _UAPI_LINUX_SFRAME_H

#include <linux/types.h>

/*
 * prctl() options. The numbers ("SFJ1" to "SFJ3") are private to the
 * prototype, as those of PR_SET_VMA and PR_SET_PTRACER are to them: the small
 * numbers of earlier SFrame series have since been given to others.
 *
 *   prctl(PR_SFRAME_REGISTER, key, address, length, opts)
 *   prctl(PR_SFRAME_UNREGISTER, key, 0, 0, 0)
 *   prctl(PR_SFRAME_QUERY, what, ...)
 */
#define PR_SFRAME_REGISTER	0x53464a31
#define PR_SFRAME_UNREGISTER	0x53464a32
#define PR_SFRAME_QUERY		0x53464a33

/* Values of 'what' for PR_SFRAME_QUERY. */
#define PR_SFRAME_QUERY_FLAGS	0	/* returns the flags REGISTER knows */
#define PR_SFRAME_QUERY_FORMATS	1	/* returns bit n set for format n */
#define PR_SFRAME_QUERY_LIMIT	2	/* returns the most windows of an mm */

/*
 * Values of sframe_window_opts.format. PR_SFRAME_QUERY_FORMATS tells which ones
 * a kernel knows.
 *
 * V3_ADDEND is a proposal for the format: in a pair of words of a FLEX row, bit
 * 2 of the control word says that a third word follows the offset. It is added
 * to the value that was loaded, so bit 2 is only valid where the rule loads one.
 *
 * A PACKED table has its own address, a multiple of 16, and @text_bias is what its
 * code was loaded above its link-time addresses. It is not live: any packed table
 * grows where its header leaves room.
 *
 * FP and END have no section: address, length and bias are 0, and a text range
 * is required. They cannot be live.
 */
#define SFRAME_FORMAT_V3	0	/* SFrame version 3 */
#define SFRAME_FORMAT_V3_ADDEND	1	/* the same, with addends in FLEX rows */
#define SFRAME_FORMAT_FP	2	/* no section: the code keeps frame pointers */
#define SFRAME_FORMAT_END	3	/* no section: stacks end here */
#define SFRAME_FORMAT_PACKED	4	/* packed table */

/* Flags of sframe_window_opts. */
#define SFRAME_WINDOW_REPLACE	(1U << 0)	/* swap the window of this key */
#define SFRAME_WINDOW_LIVE	(1U << 1)	/* FDEs are appended, see below */

/**
 * struct sframe_window_opts - optional last argument of PR_SFRAME_REGISTER
 * @size:	sizeof(struct sframe_window_opts) as the caller knows it
 * @flags:	SFRAME_WINDOW_*
 * @text_start:	first address the window covers
 * @text_length: bytes the window covers; 0 (with @text_start 0) takes the
 *		range from the first to the last FDE of the section
 * @format:	SFRAME_FORMAT_*
 * @reserved:	must be 0
 * @text_bias:	added to the start of each function, modulo 2^64
 *
 * With @text_bias a section can lie elsewhere than it was made for: in a file
 * that is mapped, the same bytes in each process. A section that was made for
 * address 0 and for text at its link-time addresses, and is mapped at S for text
 * that is loaded B higher, has the bias B - S.
 */
struct sframe_window_opts {
	__u32	size;
	__u32	flags;
	__u64	text_start;
	__u64	text_length;
	__u32	format;
	__u32	reserved;
	__u64	text_bias;
};

#define SFRAME_WINDOW_OPTS_SIZE_VER0	32
#define SFRAME_WINDOW_OPTS_SIZE_VER1	40	/* with text_bias */

/*
 * SFRAME_WINDOW_LIVE: the section grows without a system call. Its address is
 * a multiple of 8, @text_start and @text_length say where text may come, and
 * the space between the FDE index and the FRE area is the index's capacity.
 * The kernel keeps the header as registered, without num_fres and fre_len (rows
 * lie between fres_off and the end of the section), and reads num_fdes anew for
 * each frame. To append a function, behind those that are there:
 *
 *   1. write its attributes and rows,
 *   2. write its FDE behind the last one, at a higher text address,
 *   3. store num_fdes with release semantics,
 *   4. let threads run it.
 *
 * To take one back, store 0 to its func_size. num_fdes does not shrink. The
 * kernel does not read text: that of a function that was taken back may be
 * reused once the 0 is stored, and no thread runs it or returns to it.
 *
 * An entry of size 0 may become that of another function, if the index lies at
 * a multiple of 8: write the rows, store func_start, then func_size and fre_off
 * by one store of 8 bytes with release semantics. The index is sorted after each
 * store. A walk that meets the change may end.
 *
 * Entries and rows that were published are not changed otherwise before the
 * window is replaced or unregistered.
 */

#endif /* _UAPI_LINUX_SFRAME_H */
