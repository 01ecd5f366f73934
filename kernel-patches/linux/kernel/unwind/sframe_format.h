/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/*
 * The part of SFrame version 3 that the kernel reads, as emitted by GNU binutils
 * 2.46 and later: a header, an array of FDE index entries sorted by address, and
 * the FRE area. All values are in the byte order of the machine and may be
 * unaligned.
 *
 * The selftests include this file too.
 */
#ifndef _KERNEL_UNWIND_SFRAME_FORMAT_H
#define _KERNEL_UNWIND_SFRAME_FORMAT_H

#include <linux/types.h>

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
} __packed;

/* One entry of the FDE index. */
struct sframe_fde {
	__s64	func_start;		/* relative to this field */
	__u32	func_size;
	__u32	fre_off;		/* of its attributes in the FRE area */
} __packed;

/* Attributes of a function, before its rows in the FRE area. */
struct sframe_fde_attr {
	__u16	num_fres;
	__u8	info;			/* SFRAME_FDE_* */
	__u8	info2;			/* SFRAME_FDE2_* */
	__u8	rep_size;		/* PCMASK: bytes of one block */
} __packed;

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
 * info.size bytes. Without words the return address is undefined: this is the
 * outermost frame.
 *
 * DEFAULT, AMD64: cfa [fp].  FLEX: cfa, ra and fp as (control, offset) pairs,
 * where a single 0 word in place of the ra pair keeps the default ra rule.
 */
#define SFRAME_FRE_BASE_SP(info)	((info) & 0x1)	/* else FP */
#define SFRAME_FRE_WORDS(info)		(((info) >> 1) & 0xf)
#define SFRAME_FRE_WORD_SIZE(info)	(((info) >> 5) & 0x3)	/* log2 */
#define SFRAME_FRE_MANGLED_RA(info)	((info) & 0x80)

/* Control word of FLEX: the base of the rule. */
#define SFRAME_FLEX_REG_P		0x1	/* a register, else the CFA */
#define SFRAME_FLEX_DEREF_P		0x2	/* load from there */
#define SFRAME_FLEX_RESERVED		0x4
#define SFRAME_FLEX_REGNUM(ctrl)	((ctrl) >> 3)

#endif /* _KERNEL_UNWIND_SFRAME_FORMAT_H */
