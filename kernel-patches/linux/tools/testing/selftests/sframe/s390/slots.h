/* SPDX-License-Identifier: GPL-2.0 */
/*
 * SPDX-FileCopyrightText: 2026 The sfjit authors
 *
 * Trampolines with rows checked by hand, and rows for the functions of
 * frames.S.
 */
#ifndef SFRAME_SLOTS_H
#define SFRAME_SLOTS_H

#include <sys/auxv.h>

#include "sframe_test.h"

/* Rows of the DEFAULT type; @base is 1 for CFA = r15 + cfa, 0 for r11 + cfa. */
#define SFT_ROW_LR(off)			{ (off), 1, 1, { SFT_CFA(160) } }
#define SFT_ROW_RA(off, base, cfa, ra)					\
	{ (off), (base), 2, { SFT_CFA(cfa), (ra) } }
#define SFT_ROW_RA_FP(off, base, cfa, ra, fp)				\
	{ (off), (base), 3, { SFT_CFA(cfa), (ra), (fp) } }
/* The row of a function at its entry. */
#define SFT_ROW_CALLED(off)	SFT_ROW_LR(off)
/* Rows with 0 as RA offset, and the callers found after such a row. */
#define SFT_ROW_PADDED		{ 0, 1, 3, { SFT_CFA(160), 0, -72 } }
#define SFT_ROW_PADDED_ALONE	{ 0, 1, 2, { SFT_CFA(160), 0 } }
#define SFT_PADDED_LEFT		SFT_LOST

/* Where r11 and r14 are saved, from the CFA. */
#define SFT_R11		-72
#define SFT_R14		-48

/* Bytes of a slot; slots repeat. */
#define SFT_SLOT	64

/**
 * struct sft_slot - one kind of trampoline
 * @name:	of the kind
 * @code:	instructions, then 0, with which no instruction begins
 * @insns:	offset of each instruction; 0 ends them, except the first
 * @ret:	offset of the instruction after the call
 * @data:	offset of the instruction that loads the target, or 0
 * @fp_lost:	there is no back chain between these offsets
 * @record:	there is one between these offsets
 * @from_fp:	the CFA is based on r11 at the call
 * @info:	info of the FDE
 * @rows:	rows
 * @nr_rows:	number of rows
 */
struct sft_slot {
	const char	*name;
	__u16		code[SFT_SLOT / 2];
	__u8		insns[10];
	__u8		ret;
	__u8		data;
	__u8		fp_lost[2];
	__u8		record[2];
	bool		from_fp;
	__u8		info;
	struct sft_row	rows[4];
	__u8		nr_rows;
};

#define SFT_BASR_R1	0x0de1	/* basr %r14,%r1 */
#define SFT_BR_R14	0x07fe	/* br %r14 */
#define SFT_NOPR	0x0700

/* Call r1. */
static const struct sft_slot sft_slot_arg __maybe_unused = {
	.name = "arg",
	.code = {
		0xebef, 0xf070, 0x0024,	/* stmg %r14,%r15,112(%r15) */
		0xa7fb, 0xff60,		/* aghi %r15,-160 */
		SFT_BASR_R1,
		0xebef, 0xf110, 0x0004,	/* lmg %r14,%r15,272(%r15) */
		SFT_BR_R14,
	},
	.insns = { 0, 6, 10, 12, 18 },
	.ret = 12,
	.fp_lost = { 10, 18 },
	.rows = {
		SFT_ROW_LR(0), SFT_ROW_RA(10, 1, 320, SFT_R14), SFT_ROW_LR(18),
	},
	.nr_rows = 3,
};

/* A wrong CFA of the second row: the return address is a stack address. */
#define SFT_SLOT_ARG_WRONG	328

/* Bytes of its attributes and rows. */
#define SFT_SLOT_ARG_LEN	(5 + 3 + 4 + 3)

/* The same with lgrl %r1 from one page after the slot */
static const struct sft_slot sft_slot_data __maybe_unused = {
	.name = "slot",
	.code = {
		0xebef, 0xf070, 0x0024,	/* stmg %r14,%r15,112(%r15) */
		0xc418, 0x0000, (SFT_PAGE - 6) / 2,
		0xa7fb, 0xff60,		/* aghi %r15,-160 */
		SFT_BASR_R1,
		0xebef, 0xf110, 0x0004,	/* lmg %r14,%r15,272(%r15) */
		SFT_BR_R14,
	},
	.insns = { 0, 6, 12, 16, 18, 24 },
	.ret = 18,
	.data = 6,
	.fp_lost = { 16, 24 },
	.rows = {
		SFT_ROW_LR(0), SFT_ROW_RA(16, 1, 320, SFT_R14), SFT_ROW_LR(24),
	},
	.nr_rows = 3,
};

/* With lgr %r11,%r1; basr %r14,%r11 */
static const struct sft_slot sft_slot_rbp __maybe_unused = {
	.name = "rbp",
	.code = {
		0xebbf, 0xf058, 0x0024,	/* stmg %r11,%r15,88(%r15) */
		0xa7fb, 0xff60,		/* aghi %r15,-160 */
		0xb904, 0x00b1, 0x0deb,
		0xebbf, 0xf0f8, 0x0004,	/* lmg %r11,%r15,248(%r15) */
		SFT_BR_R14,
	},
	.insns = { 0, 6, 10, 14, 16, 22 },
	.ret = 16,
	.fp_lost = { 10, 22 },
	.rows = {
		SFT_ROW_LR(0), SFT_ROW_RA_FP(10, 1, 320, SFT_R14, SFT_R11),
		SFT_ROW_LR(22),
	},
	.nr_rows = 3,
};

/*
 * With a back chain, and a frame pointer: lgr %r0,%r15; ...; stg %r0,0(%r15);
 * lgr %r11,%r15
 */
static const struct sft_slot sft_slot_record __maybe_unused = {
	.name = "record",
	.code = {
		0xebbf, 0xf058, 0x0024,	/* stmg %r11,%r15,88(%r15) */
		0xb904, 0x000f,
		0xa7fb, 0xff60,		/* aghi %r15,-160 */
		0xe300, 0xf000, 0x0024, 0xb904, 0x00bf, SFT_BASR_R1,
		0xebbf, 0xf0f8, 0x0004,	/* lmg %r11,%r15,248(%r15) */
		SFT_BR_R14,
	},
	.insns = { 0, 6, 10, 14, 20, 24, 26, 32 },
	.ret = 26,
	.fp_lost = { 14, 20 },
	.record = { 20, 32 },
	.from_fp = true,
	.rows = {
		SFT_ROW_LR(0), SFT_ROW_RA_FP(14, 1, 320, SFT_R14, SFT_R11),
		SFT_ROW_RA_FP(24, 0, 320, SFT_R14, SFT_R11), SFT_ROW_LR(32),
	},
	.nr_rows = 4,
};

/* Does a back chain recover the base register of the row? Not if it is r11. */
static inline bool sft_known_behind(const struct sft_slot *slot)
{
	return !slot->from_fp;
}

/*
 * Slots with different frames, so that the rows of another slot are wrong: as
 * sft_slot_arg with frames of other sizes.
 */
#define SFT_FRAME_SLOT_SIZE	20
/* Offsets of its call, its last instruction, and that after the call. */
#define SFT_FRAME_SLOT_CALL	10
#define SFT_FRAME_SLOT_LAST	18
#define SFT_FRAME_SLOT_RET	12
/* Bytes of the second row. */
#define SFT_FRAME_ROW_LEN	4
#define SFT_FRAME_SIZE(nr)	(160 + (nr) % 14 * 16)

static inline void sft_put_frame_slot(__u8 *code, struct sft_row *rows,
				      int size)
{
	const __u16 insns[SFT_SLOT / 2] = {
		0xebef, 0xf070, 0x0024, 0xa7fb, -size, SFT_BASR_R1,
		0xebef, 0xf000 | (size + 112), 0x0004, SFT_BR_R14,
	};

	sft_put_code(code, insns, sizeof(insns));
	rows[0] = (struct sft_row)SFT_ROW_LR(0);
	rows[1] = (struct sft_row)SFT_ROW_RA(10, 1, 160 + size, SFT_R14);
	rows[2] = (struct sft_row)SFT_ROW_LR(18);
}

/* One slot in a mapping of two pages; the target's address is in the second. */
#define SFT_SLOT_MAP	(2 * SFT_PAGE)

static inline __u8 *sft_make_slot(const struct sft_slot *kind,
				  const void *target)
{
	__u8 *text = sft_map_code(kind->code, SFT_SLOT, SFT_SLOT_MAP);

	if (!text || mprotect(text + SFT_PAGE, SFT_PAGE, SFT_RW))
		return NULL;
	memcpy(text + SFT_PAGE, &target, sizeof(target));
	return text;
}

/* stmg; lgr %r0,%r15; aghi; stg %r0,0(%r15); nopr; lmg; br */
static const __u8 sft_leaf_insns[] __maybe_unused = {
	0, 6, 10, 14, 20, 22, 28,
};

static const struct sft_row sft_leaf_rows[] __maybe_unused = {
	SFT_ROW_LR(0), SFT_ROW_RA(14, 1, 320, SFT_R14), SFT_ROW_LR(28),
};

/* Rows of sft_kill, whose body has 8 bytes. */
#define SFT_KILL_ROWS
static const struct sft_row sft_kill_rows[] __maybe_unused = {
	SFT_ROW_LR(0), SFT_ROW_RA(14, 1, 320, SFT_R14), SFT_ROW_LR(34),
};

/*
 * 10: basr %r14,%r1, at the end, as its callee does not return. At 12 another
 * function begins: nopr; br %r14.
 */
static const __u16 sft_noreturn_code[] __maybe_unused = {
	0xebef, 0xf070, 0x0024, 0xa7fb, 0xff60, SFT_BASR_R1, SFT_NOPR,
	SFT_BR_R14,
};

#define SFT_NORETURN_SIZE	12
#define SFT_NORETURN_CALL	10
#define SFT_NEXT_SIZE		4

static const struct sft_row sft_noreturn_rows[] __maybe_unused = {
	SFT_ROW_LR(0), SFT_ROW_RA(10, 1, 320, SFT_R14),
};

static const struct sft_row sft_next_rows[] __maybe_unused = { SFT_ROW_LR(0) };

/* With r1 as back chain. */
static const __u16 sft_fp_code[] __maybe_unused = {
	0xebef, 0xf070, 0x0024,	/* stmg %r14,%r15,112(%r15) */
	0xa7fb, 0xff60,		/* aghi %r15,-160 */
	0xe310, 0xf000, 0x0024,	/* stg %r1,0(%r15) */
	SFT_NOPR,
	0xebef, 0xf110, 0x0004,	/* lmg %r14,%r15,272(%r15) */
	SFT_BR_R14,
};

#define SFT_FP_CODE_NOP		16
/* The CFA there, from the stack pointer. */
#define SFT_FP_CODE_CFA		320

/* The target of a back chain. */
struct sft_frame {
	__u64	fp, saved[13], ra, more[5];
};

/* br %r14 */
static const __u16 sft_ret_code[] __maybe_unused = { SFT_BR_R14 };

/* The slot that tests of signals interrupt. */
#define sft_slot_interrupted	sft_slot_record

/*
 * The first function of the vDSO: aghi %r15,-168; stg %r14,160(%r15);
 * xc 0(8,%r15),0(%r15); brasl %r14
 */
static inline const __u8 *sft_vdso_function(void)
{
	static const __u8 aghi[] = { 0xa7, 0xfb, 0xff, 0x58 };
	const __u8 *vdso = (void *)getauxval(AT_SYSINFO_EHDR);
	/* e_phoff of the file, and p_filesz of its first segment */
	const __u64 *segment = (const void *)(vdso + 32);
	const __u64 *size = (const void *)(vdso + *segment + 32);

	return memmem(vdso, *size, aghi, sizeof(aghi));
}

#define SFT_VDSO_BRASL	16

/* The function that it calls. */
static inline const __u8 *sft_vdso_callee(const __u8 *function)
{
	const __u8 *brasl = function + SFT_VDSO_BRASL;
	__s32 halves;

	memcpy(&halves, brasl + 2, sizeof(halves));
	return brasl + 2L * halves;
}

/* Return addresses are not signed. */
static inline __u64 sft_strip(__u64 ip)
{
	return ip;
}

/*
 * A leaf function that saves registers in other registers, not on the stack:
 * ldgr %fN,%r14; ldgr %fM,%r11; lghi %r14,0; lghi %r11,0; lgdr %r11,%fM;
 * lgdr %r14,%fN; br %r14
 */
#define SFT_REGS_LEAF
static const __u8 sft_regs_insns[] __maybe_unused = { 0, 4, 8, 12, 16, 20, 24 };

/* DWARF numbers of f0 to f15. */
static const __u8 sft_fpr_regnum[16] __maybe_unused = {
	16, 20, 17, 21, 18, 22, 19, 23, 24, 28, 25, 29, 26, 30, 27, 31,
};

struct sft_regs_leaf {
	__u16		code[13];
	struct sft_row	rows[5];
};

static inline struct sft_regs_leaf sft_make_regs_leaf(unsigned int ra,
						      unsigned int fp)
{
	const __s32 sp = SFT_REG(15), ra_reg = SFT_REG(sft_fpr_regnum[ra]);
	const __s32 fp_reg = SFT_REG(sft_fpr_regnum[fp]);

	return (struct sft_regs_leaf){
		.code = {
			0xb3c1, ra << 4 | 14, 0xb3c1, fp << 4 | 11,
			0xa7e9, 0x0000, 0xa7b9, 0x0000,
			0xb3cd, 11 << 4 | fp, 0xb3cd, 14 << 4 | ra,
			SFT_BR_R14,
		},
		.rows = {
			SFT_FLEX(0, sp, SFT_CFA(160)),
			SFT_FLEX(4, sp, SFT_CFA(160), ra_reg, 0),
			SFT_FLEX(8, sp, SFT_CFA(160), ra_reg, 0, fp_reg, 0),
			SFT_FLEX(20, sp, SFT_CFA(160), ra_reg, 0),
			SFT_FLEX(24, sp, SFT_CFA(160)),
		},
	};
}

#endif /* SFRAME_SLOTS_H */
