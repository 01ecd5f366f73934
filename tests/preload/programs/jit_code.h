/* SPDX-License-Identifier: MIT */
/*
 * SPDX-FileCopyrightText: 2026 The sfjit authors
 *
 * Code and call frame information of a small JIT, for
 * tests/preload/programs/jit.c. The functions have no frame pointer: they keep
 * 1 in rbp.
 */
#ifndef JIT_CODE_H
#define JIT_CODE_H

#include <stdint.h>

/*
 * code_call(function, argument) calls function(argument). The comments give the
 * offset of each instruction. Rows for one frame size are wrong for others.
 */
#define CODE_FRAME(frame) { \
	0x55,				/*  0 push %rbp */ \
	0x48, 0x83, 0xec, (frame),	/*  1 sub $frame,%rsp */ \
	0xbd, 0x01, 0x00, 0x00, 0x00,	/*  5 mov $1,%ebp */ \
	0x48, 0x89, 0xf8,		/* 10 mov %rdi,%rax */ \
	0x48, 0x89, 0xf7,		/* 13 mov %rsi,%rdi */ \
	0xff, 0xd0,			/* 16 call *%rax */ \
	0x48, 0x83, 0xc4, (frame),	/* 18 add $frame,%rsp */ \
	0x5d,				/* 22 pop %rbp */ \
	0xc3,				/* 23 ret */ \
}
#define CODE_CALL		CODE_FRAME(16)
#define CODE_OTHER		CODE_FRAME(48)
#define CODE_CALL_SIZE		24
#define CODE_CALL_RETURN	18
#define CODE_CALL_INSNS		{ 0, 1, 5, 10, 13, 16, 18, 22, 23 }

/* JIT linkers put this next to the code; the slot is 8 bytes after it. */
#define CODE_JUMP { 0xff, 0x25, 0x02, 0x00, 0x00, 0x00 }
#define CODE_JUMP_SIZE		6

/* Never described: push %rbx; mov $1,%ebp; pop %rbx; ret */
#define CODE_BARE { 0x53, 0xbd, 0x01, 0x00, 0x00, 0x00, 0x5b, 0xc3 }
#define CODE_BARE_SIZE		8

/* Frames made here: one CIE, FDEs, and a terminator. */
struct frames {
	uint8_t bytes[512];
	unsigned int length;
	unsigned int cie;
};

static inline void frames_add(struct frames *f, const void *bytes,
			      unsigned int length)
{
	const uint8_t *p = bytes;

	while (length--)
		f->bytes[f->length++] = *p++;
}

static inline void frames_number(struct frames *f, uint64_t value,
				 unsigned int length)
{
	frames_add(f, &value, length);
}

/* DW_CFA_def_cfa rsp+8, DW_CFA_offset ra at -8; addresses of 8 bytes. */
static inline void frames_begin(struct frames *f, int debug_frame)
{
	static const uint8_t eh[] = {
		1, 'z', 'R', 0, 1, 0x78, 16, 1, 0x00,
		0x0c, 7, 8, 0x90, 1, 0, 0,
	};
	static const uint8_t debug[] = {
		1, 0, 1, 0x78, 16, 0x0c, 7, 8, 0x90, 1, 0, 0,
	};

	f->length = 0;
	f->cie = 0;
	frames_number(f, 4 + (debug_frame ? sizeof(debug) : sizeof(eh)), 4);
	frames_number(f, debug_frame ? UINT32_MAX : 0, 4);
	if (debug_frame)
		frames_add(f, debug, sizeof(debug));
	else
		frames_add(f, eh, sizeof(eh));
}

/* Returns where the FDE begins. */
static inline unsigned int frames_function(struct frames *f, uint64_t address,
					   unsigned int frame, int debug_frame)
{
	const uint8_t rules[] = {
		0x41, 0x0e, 16, 0x86, 2,	/* after push: CFA rsp+16 */
		0x44, 0x0e, 16 + frame,		/* after sub */
		0x51, 0x0e, 16,			/* after add */
		0x41, 0x0e, 8, 0xc6,		/* after pop */
	};
	unsigned int start = f->length;

	frames_number(f, 4 + 16 + !debug_frame + sizeof(rules), 4);
	frames_number(f, debug_frame ? f->cie : f->length - f->cie, 4);
	frames_number(f, address, 8);
	frames_number(f, CODE_CALL_SIZE, 8);
	if (!debug_frame)
		frames_number(f, 0, 1);
	frames_add(f, rules, sizeof(rules));
	return start;
}

static inline void frames_end(struct frames *f)
{
	frames_number(f, 0, 4);
}

#endif /* JIT_CODE_H */
