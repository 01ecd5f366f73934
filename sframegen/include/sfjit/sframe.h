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

#include <linux/ioctl.h>
#include <linux/types.h>

/*
 * prctl() options. The numbers ("SFJ1" to "SFJ4") are private to the
 * prototype, like those of PR_SET_VMA and PR_SET_PTRACER. Other options have
 * since taken the small numbers of earlier SFrame series.
 *
 *   prctl(PR_SFRAME_REGISTER, key, address, length, opts)
 *   prctl(PR_SFRAME_UNREGISTER, key, 0, 0, 0)
 *   prctl(PR_SFRAME_QUERY, what, ...)
 *   prctl(PR_SFRAME_FILES, 0, 0, 0, 0)
 */
#define PR_SFRAME_REGISTER	0x53464a31
#define PR_SFRAME_UNREGISTER	0x53464a32
#define PR_SFRAME_QUERY		0x53464a33
#define PR_SFRAME_FILES		0x53464a34	/* returns a descriptor */

/* Values of 'what' for PR_SFRAME_QUERY. */
#define PR_SFRAME_QUERY_FLAGS	0	/* returns the flags REGISTER knows */
#define PR_SFRAME_QUERY_FORMATS	1	/* returns bit n set for format n */
#define PR_SFRAME_QUERY_LIMIT	2	/* returns the maximum number per mm */

/*
 * Values of sframe_window_opts.format. PR_SFRAME_QUERY_FORMATS tells which ones
 * a kernel knows.
 *
 * The address of a PACKED table is a multiple of 16. Its @text_bias is the load
 * bias of its code. It can grow if its header leaves room. Earlier versions of
 * this prototype used 1 to 3.
 */
#define SFRAME_FORMAT_V3	0	/* SFrame version 3 */
#define SFRAME_FORMAT_PACKED	4	/* packed table */

/* Flags of sframe_window_opts. */
#define SFRAME_WINDOW_REPLACE	(1U << 0)	/* replace this key's window */

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
 * With @text_bias, processes can map a section from a file and share its bytes.
 * A section that was built for address 0 and for text at its link-time
 * addresses, and is mapped at S for text with load bias B, has the bias B - S.
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

#define SFRAME_WINDOW_OPTS_SIZE_VER0	40

/**
 * struct sframe_file_opts - argument of SFRAME_IOC_ADD
 * @size:	sizeof(struct sframe_file_opts) as the caller knows it
 * @fd:		a regular file, open for reading
 * @table:	address of a packed table for some of its text
 * @length:	bytes of the table
 * @text_bias:	added to the start of the table's text, modulo 2^64; the sum is
 *		the offset of the text in the file
 * @ctime:	change time of the file before it was read, from stat()
 * @ctime_nsec:	nanoseconds of @ctime
 * @reserved:	must be 0
 */
struct sframe_file_opts {
	__u32	size;
	__s32	fd;
	__u64	table;
	__u64	length;
	__u64	text_bias;
	__s64	ctime;
	__u32	ctime_nsec;
	__u32	reserved;
};

#define SFRAME_FILE_OPTS_SIZE_VER0	48

/*
 * ioctls of the descriptor, for a task with CAP_PERFMON in the initial user
 * namespace. ADD returns an id above 0. Closing the descriptor removes all of
 * its tables.
 */
#define SFRAME_IOC_ADD		_IOW(0xe9, 16, struct sframe_file_opts)
#define SFRAME_IOC_REMOVE	_IO(0xe9, 17)	/* argument: id */

#endif /* _UAPI_LINUX_SFRAME_H */
