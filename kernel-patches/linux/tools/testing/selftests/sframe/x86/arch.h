/* SPDX-License-Identifier: GPL-2.0 */
/*
 * SPDX-FileCopyrightText: 2026 The sfjit authors
 *
 * What the tests of SFrame windows have to know of the machine.
 */
#ifndef SFRAME_TEST_ARCH_H
#define SFRAME_TEST_ARCH_H

#define SFT_ABI		SFRAME_ABI_AMD64_LE
#define SFT_OTHER_ABI	SFRAME_ABI_AARCH64_LE
#define SFT_THIRD_ABI	SFRAME_ABI_S390X_BE
#define SFT_UNIT_SHIFT	0	/* instructions are at multiples of 1 << this */
#define SFT_RA_OFF	-8
/* How far the CFA is above the stack pointer of the caller. */
#define SFT_SAVE_AREA	0
/* What offsets of CFAs are divided by. */
#define SFT_CFA_SCALE	1
/* Does the highest byte of a number come first? */
#define SFT_BIG_ENDIAN	0
/* Words that rows of the DEFAULT type have at most. */
#define SFT_ROW_WORDS	2
/*
 * DWARF numbers: stack pointer, frame pointer, link register if there is one,
 * where the target of a call is.
 */
#define SFT_REGNUM_SP		7
#define SFT_REGNUM_FP		6
#define SFT_REGNUM_THIRD	3	/* rbx: walks know where it is */
#define SFT_REGNUM_LR		0xffffffffU
#define SFT_REGNUM_TARGET	9
/* The first number without a register, a power of two. */
#define SFT_REGNUM_NONE		16
/* What addresses of code are a multiple of for the kernel. */
#define SFT_CODE_ALIGN	1
/* Events are at instructions. */
#define SFT_TRACED	0
/* Length of an event at an instruction. */
#define SFT_BREAK_LEN	sizeof(long)
/* Where user space ends, with 4 and with 5 levels of page tables. */
#define SFT_USER_END_SMALL	0x7ffffffff000UL
#define SFT_USER_END_LARGE	0xfffffffffff000UL
/* Above what is mapped without an address. */
#define SFT_HIGH	0x7fffffe00000
/* Neither stack nor frame pointer. */
#define SFT_OTHER_REG	10
/* The C library has code that handlers return to. */
#define SFT_LIBC_RESTORER
/* Where a signal interrupted, of a ucontext_t. */
#define SFT_UC_PC(uc)	((uc)->uc_mcontext.gregs[REG_RIP])

/* Without windows, perf has frame pointers go up. */
#define SFT_FP_GOES_UP	0
/* Nor does a frame pointer to code end the stack. */
#define SFT_LOST_ENDS	0
/* Is a call before this address? Of the forms here all that tests use. */
#define SFT_IS_CALL(at)		((at)[-5] == 0xe8 || sft_is_indirect_call(at))
#define SFT_STARTS_STACK(at)	((at)[-1] == 0x90 && *(at) == 0xe8)
static inline bool sft_is_indirect_call(const __u8 *at)
{
	return (at[-2] == 0xff && (at[-1] & 0xf8) == 0xd0) ||
	       (at[-2] == 0xff && (at[-1] & 0xf8) == 0x10 &&
		(at[-1] & 7) != 4 && (at[-1] & 7) != 5) ||
	       (at[-3] == 0xff && (at[-2] & 0xf8) == 0x50 &&
		(at[-2] & 7) != 4);
}

/* A function that returns has no frame, and is seen to have none. */
#define SFT_RETURNING	SFT_CALLERS
/* Steps by frame pointer that find no frame are counted. */
#define SFT_FP_COUNTED	1
/* What is left where the interrupted frame is lost. */
#define SFT_INTERRUPTED_LOST	SFT_LOST
/* And where the handler had a stack of its own, above. */
#define SFT_OTHER_STACK_LOST	SFT_LOST
/*
 * Made-up frames: where the return address is, from the stack pointer of the
 * caller; bytes of the smallest one; where the first one behind sft_onto is.
 */
#define SFT_RA_FROM_SP	-8
#define SFT_TINY_FRAME	8
#define SFT_ONTO_SP	8
/* Why walks end where a signal frame is said to be, and zeros are. */
#define SFT_NO_SIGNAL	"signal"
/* Windows that sft_register_callees() makes. */
#define SFT_CALLEES	0
/* First instruction of a handler at which events come. */
#define SFT_HANDLER_FIRST	0

/* Addresses that are not in user space, or in that of no program. */
static const __u64 sft_no_user[] __maybe_unused = {
	1UL << 63, 0xdead000000000000, 0xffff800000000000,
	0xffffffff81000000,
};

#endif /* SFRAME_TEST_ARCH_H */
