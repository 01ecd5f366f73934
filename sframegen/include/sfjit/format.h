/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The sfjit authors */
/*
 * SFrame version 3 in memory: a header, the FDE index, which is sorted by
 * address, and the FRE area with the rows. Nothing is aligned. The byte order is
 * that of the ABI.
 */
#ifndef SFJIT_FORMAT_H
#define SFJIT_FORMAT_H

#include <stdint.h>

#define SFRAME_MAGIC			0xdee2
#define SFRAME_VERSION_3		3

/* sframe_header.abi_arch */
#define SFRAME_ABI_AARCH64_BE		1
#define SFRAME_ABI_AARCH64_LE		2
#define SFRAME_ABI_AMD64_LE		3
#define SFRAME_ABI_S390X_BE		4

/* sframe_header.flags */
#define SFRAME_F_FDE_SORTED		0x1
#define SFRAME_F_FDE_FUNC_START_PCREL	0x4

/* Fixed offsets from the CFA are 0 where rows have their own. */
struct sframe_header {
	uint16_t magic;
	uint8_t version;
	uint8_t flags;
	uint8_t abi_arch;
	int8_t cfa_fixed_fp_offset;
	int8_t cfa_fixed_ra_offset;
	uint8_t auxhdr_len;
	uint32_t num_fdes;
	uint32_t num_fres;
	uint32_t fre_len;		/* of the FRE area */
	uint32_t fdes_off;		/* from behind header and auxhdr, */
	uint32_t fres_off;		/* as this one */
} __attribute__((packed));

struct sframe_fde {
	int64_t func_start;		/* from the address of this field */
	uint32_t func_size;
	uint32_t fre_off;		/* of its attributes, in the FRE area */
} __attribute__((packed));

/* Attributes of a function; its rows follow. */
struct sframe_fde_attr {
	uint16_t num_fres;
	uint8_t info;
	uint8_t info2;
	uint8_t rep_size;		/* bytes of a block, if PCMASK */
} __attribute__((packed));

/* sframe_fde_attr.info */
#define SFRAME_FDE_FRE_TYPE(info)	((info) & 0xf)
#define SFRAME_FRE_TYPE_ADDR1		0	/* bytes of a row's start: */
#define SFRAME_FRE_TYPE_ADDR2		1	/* 1 << type */
#define SFRAME_FRE_TYPE_ADDR4		2
#define SFRAME_FDE_PCMASK		0x10	/* the rows are of each block */
#define SFRAME_FDE_PAUTH_KEY_B		0x20
#define SFRAME_FDE_RESERVED		0x40
#define SFRAME_FDE_SIGNAL		0x80

/* sframe_fde_attr.info2 */
#define SFRAME_FDE2_TYPE(info2)		((info2) & 0x1f)
#define SFRAME_FDE_TYPE_DEFAULT		0
#define SFRAME_FDE_TYPE_FLEX		1
#define SFRAME_FDE2_RESERVED		0xe0

/*
 * A row is its start, this byte, and words in this order:
 *
 *	DEFAULT	offset of the CFA from the base register; offset from the CFA of
 *		the saved return address, unless cfa_fixed_ra_offset has it;
 *		offset from the CFA of the saved frame pointer
 *	FLEX	a rule each for the CFA, the return address, the frame pointer
 *
 * Control words are unsigned, all others signed. Words at the end are left out if
 * nothing is saved: the return address is where a call puts it, the frame pointer
 * is the caller's. One word 0 takes the place of the return address's if only the
 * frame pointer is saved. A row without words is that of the outermost frame. On
 * s390x the word of a CFA's offset is (offset - 160) / 8.
 */
#define SFRAME_FRE_BASE_SP(info)	((info) & 0x1)	/* 0: fp */
#define SFRAME_FRE_WORDS(info)		(((info) >> 1) & 0xf)
#define SFRAME_FRE_WORD_SIZE(info)	(((info) >> 5) & 0x3)	/* log2 */
#define SFRAME_FRE_MANGLED_RA(info)	((info) & 0x80)

/* A rule of a FLEX row is two words: this one and an offset. */
#define SFRAME_FLEX_REG_P		0x1	/* 0: from the CFA */
#define SFRAME_FLEX_DEREF_P		0x2	/* the value is loaded */
#define SFRAME_FLEX_RESERVED		0x4	/* V3 */
#define SFRAME_FLEX_REGNUM(ctrl)	((ctrl) >> 3)

#endif /* SFJIT_FORMAT_H */
