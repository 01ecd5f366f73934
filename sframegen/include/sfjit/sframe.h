/* SPDX-License-Identifier: (GPL-2.0 WITH Linux-syscall-note) OR MIT */
/*
 * SFrame windows: registration ABI (prototype, version 0) and the part of the
 * SFrame version 3 format that the kernel reads.
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
#define PR_SFRAME_QUERY_STATS	3	/* (what, struct sframe_stats *, size, 0) */

/* Values of sframe_window_opts.format. */
#define SFRAME_FORMAT_V3	0

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
 */
struct sframe_window_opts {
	__u32	size;
	__u32	flags;
	__u64	text_start;
	__u64	text_length;
	__u32	format;
	__u32	reserved;
};

#define SFRAME_WINDOW_OPTS_SIZE_VER0	32

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
 * To take one back, store 0 to its func_size. num_fdes does not shrink. Entries
 * and rows that were published are not changed otherwise before the window is
 * replaced or unregistered, and no later entry describes their text. The kernel
 * does not read text: that of a function that was taken back may be reused once
 * the 0 is stored, and no thread runs it or returns to it.
 */

/*
 * Why a step that found a window produced no frame. One number for counters,
 * /proc/<pid>/sframe, tests and documents; numbers are never reused.
 */
enum sframe_reason {
	SFRAME_REASON_NONE		= 0,	/* a frame was produced */
	SFRAME_REASON_SECTION_FAULT	= 1,	/* section byte not readable */
	SFRAME_REASON_STACK_FAULT	= 2,	/* stack word not readable */
	SFRAME_REASON_NO_FDE		= 3,	/* no FDE covers the address */
	SFRAME_REASON_NO_ROW		= 4,	/* no row covers the address */
	SFRAME_REASON_FDE_ORDER		= 5,	/* FDEs are not sorted */
	SFRAME_REASON_FDE_RANGE		= 6,	/* FDE leaves the window's text */
	SFRAME_REASON_FDE_TYPE		= 7,	/* unknown FDE or row type */
	SFRAME_REASON_FRE_OFFSET	= 8,	/* rows outside the section */
	SFRAME_REASON_REP_SIZE		= 9,	/* PCMASK block size is 0 */
	SFRAME_REASON_ROW_ORDER		= 10,	/* row starts do not increase */
	SFRAME_REASON_ROW_WORDS		= 11,	/* data words do not fit the type */
	SFRAME_REASON_ROW_RULE		= 12,	/* rule the format does not allow */
	SFRAME_REASON_ROW_REGISTER	= 13,	/* register not known here */
	SFRAME_REASON_ROW_COUNT		= 14,	/* too many rows in one FDE */
	SFRAME_REASON_CFA_ORDER		= 15,	/* CFA does not move up */
	SFRAME_REASON_CFA_ALIGN		= 16,	/* CFA is not word aligned */
	SFRAME_REASON_BUDGET		= 17,	/* walk looked at too many entries */
	SFRAME_REASON_CHANGED		= 18,	/* window was removed meanwhile */
	SFRAME_REASON_SIGNAL		= 19,	/* not a signal frame, or too many */
	SFRAME_NR_REASONS,
};

/**
 * struct sframe_stats - what PR_SFRAME_QUERY_STATS fills
 * @windows:	windows registered now
 * @last_reason: reason of the last refused step, SFRAME_REASON_*
 * @last_ip:	address of the last refused step
 * @refused:	refused steps by reason; approximate, updates may be lost
 *
 * A caller with a smaller structure gets the head of it, a larger one (of up
 * to a page) is filled with zeros behind what the kernel knows.
 */
struct sframe_stats {
	__u32	windows;
	__u32	last_reason;
	__u64	last_ip;
	__u64	refused[32];
};

/*
 * SFrame version 3, as emitted by GNU binutils 2.46 and later: a header, an
 * array of FDE index entries sorted by address, and the FRE area. All values
 * are in the byte order of the machine and none is aligned.
 */
#define SFRAME_MAGIC			0xdee2
#define SFRAME_VERSION_3		3

/* sframe_header.flags; a window needs both. */
#define SFRAME_F_FDE_SORTED		0x1
#define SFRAME_F_FDE_FUNC_START_PCREL	0x4

/* sframe_header.abi_arch */
#define SFRAME_ABI_AARCH64_BE		1
#define SFRAME_ABI_AARCH64_LE		2
#define SFRAME_ABI_AMD64_LE		3
#define SFRAME_ABI_S390X_BE		4

struct sframe_header {
	__u16	magic;
	__u8	version;
	__u8	flags;
	__u8	abi_arch;
	__s8	cfa_fixed_fp_offset;	/* 0: per row */
	__s8	cfa_fixed_ra_offset;	/* 0: per row; AMD64: -8 */
	__u8	auxhdr_len;
	__u32	num_fdes;
	__u32	num_fres;
	__u32	fre_len;		/* bytes of the FRE area */
	__u32	fdes_off;		/* from the end of header and auxhdr */
	__u32	fres_off;		/* the same */
} __attribute__((packed));

/* One entry of the FDE index. */
struct sframe_fde {
	__s64	func_start;		/* relative to this very field */
	__u32	func_size;
	__u32	fre_off;		/* of its sframe_fde_attr in the FRE area */
} __attribute__((packed));

/* What precedes the rows of a function in the FRE area. */
struct sframe_fde_attr {
	__u16	num_fres;
	__u8	info;			/* SFRAME_FDE_* */
	__u8	info2;			/* SFRAME_FDE2_* */
	__u8	rep_size;		/* PCMASK: bytes of one block */
} __attribute__((packed));

/* sframe_fde_attr.info */
#define SFRAME_FDE_FRE_TYPE(info)	((info) & 0xf)
#define SFRAME_FRE_TYPE_ADDR1		0	/* row start: 1 byte */
#define SFRAME_FRE_TYPE_ADDR2		1	/* row start: 2 bytes */
#define SFRAME_FRE_TYPE_ADDR4		2	/* row start: 4 bytes */
#define SFRAME_FDE_PCMASK		0x10	/* rows repeat every rep_size */
#define SFRAME_FDE_PAUTH_KEY_B		0x20
#define SFRAME_FDE_RESERVED		0x40
#define SFRAME_FDE_SIGNAL		0x80

/* sframe_fde_attr.info2 */
#define SFRAME_FDE2_TYPE(info2)		((info2) & 0x1f)
#define SFRAME_FDE_TYPE_DEFAULT		0
#define SFRAME_FDE_TYPE_FLEX		1
#define SFRAME_FDE2_RESERVED		0xe0

/*
 * A row (FRE): its start, one info byte, then info.count signed data words of
 * info.size bytes. No words at all: the return address is undefined, this is
 * the outermost frame.
 *
 * DEFAULT, AMD64: cfa [fp].  FLEX: cfa, ra and fp as (control, offset) pairs,
 * where one word 0 in place of the ra pair leaves the fixed ra offset.
 */
#define SFRAME_FRE_BASE_SP(info)	((info) & 0x1)	/* else FP */
#define SFRAME_FRE_WORDS(info)		(((info) >> 1) & 0xf)
#define SFRAME_FRE_WORD_SIZE(info)	(((info) >> 5) & 0x3)	/* log2 */
#define SFRAME_FRE_MANGLED_RA(info)	((info) & 0x80)

/* Control word of FLEX: where the rule starts from. */
#define SFRAME_FLEX_REG_P		0x1	/* a register, else the CFA */
#define SFRAME_FLEX_DEREF_P		0x2	/* load from there */
#define SFRAME_FLEX_RESERVED		0x4
#define SFRAME_FLEX_REGNUM(ctrl)	((ctrl) >> 3)

#endif /* _UAPI_LINUX_SFRAME_H */
