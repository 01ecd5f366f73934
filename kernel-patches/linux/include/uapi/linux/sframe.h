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
 * A PACKED table has its own address, a multiple of 16, and @text_bias is what its
 * code was loaded above its link-time addresses. It grows where its header leaves
 * room. 1 to 3 were formats of earlier versions of this prototype.
 */
#define SFRAME_FORMAT_V3	0	/* SFrame version 3 */
#define SFRAME_FORMAT_PACKED	4	/* packed table */

/* Flags of sframe_window_opts. */
#define SFRAME_WINDOW_REPLACE	(1U << 0)	/* swap the window of this key */

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

#endif /* _UAPI_LINUX_SFRAME_H */
