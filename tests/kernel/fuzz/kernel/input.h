/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The sfjit authors */
/*
 * An input: this head, the bytes of the section, the words of the stack.
 * Missing bytes at the end are 0.
 */
#ifndef FUZZ_INPUT_H
#define FUZZ_INPUT_H

#include "model.h"

#define SECTION_MAX	2048
#define STACK_MAX	1024
#define OPTS_MAX	128

/* Sections are read and registered near these ends, too. */
#define PLACE_MIDDLE	0
#define PLACE_LOW	1
#define PLACE_HIGH	2	/* ends where addresses of tasks do */

/*
 * Addresses in an input, and in words of the stack, are relative if their
 * highest byte says so; the low half is the signed distance.
 */
#define TAG(tag, off)	((u64)(tag) << 56 | (u32)(off))
#define TAG_TEXT	0xa0	/* from text_start of window 0 */
#define TAG_STACK	0xa1	/* from the stack's first byte */
#define TAG_SECTION	0xa2	/* from the section's first byte */
#define TAG_SECOND	0xa3	/* from text_start of window 1 */
#define TAG_END		0xa4	/* from the end of addresses */

/* Where return probes return to. */
#define TRAMPOLINE	TAG(TAG_STACK, -64)

/* More of struct input's place: */
#define INPUT_NO_MASK		0x10	/* addresses are checked instead */
#define INPUT_FORMAT_SHIFT	6	/* of the one that is registered, two bits */

#define INPUT_SECOND		0x02	/* there is a window 1 */
#define INPUT_SUCCESSOR		0x08	/* of window 0, in its second section */
#define INPUT_NO_OPTS		0x10	/* text range from the index */
#define INPUT_UTASK		0x20	/* return probes are pending */
#define INPUT_FUNCTION_START	0x40	/* an entry probe is hit */
#define INPUT_XOL		0x80	/* the instruction runs out of line */

/* How a single step starts; and the task of a walk. */
#define STATE_TOPMOST		0x01
#define STATE_EXACT		0x02
#define STATE_NO_REGS		0x04
#define STATE_KTHREAD		0x10
#define STATE_COMPAT		0x20
#define STATE_VM86		0x40
#define STATE_KERNEL		0x80

/* A section that begins so is registered as a packed table. */
#define PACKED_MAGIC	0x5053

#define BIAS_REG	7

#define NR_RETURNS	3

/* Which words have the return address of a probe, by 5 bits for each. */
#define PROBED_BITS		5
#define PROBED_XOL		0x8000	/* at an instruction out of line */

struct input {
	u8 place;		/* section in bits 0-1, stack in 2-3, INPUT_* */
	u8 flags;		/* INPUT_* */
	u8 state;		/* STATE_* */
	u8 signals;		/* signal frames after a step */
	u8 pad;			/* bytes before the section */
	u8 max_frames;		/* of a walk; 0 is the kernel's maximum; or how
				   much a step reads until it sees the clock */
	u16 budget;		/* of a step, or the time of a walk */
	u16 section_size;	/* bytes that follow */
	u16 second;		/* offset of the second section */
	s16 beyond;		/* registered length, past the end */
	u16 probed;		/* words of the stack, PROBED_* */
	u64 section_pages;	/* two bits each: enum page_state, 3 is present */
	u32 stack_pages;
	u32 opts_size;		/* or the deadline */
	u64 text_start, text_length;
	u64 second_start, second_length;
	u64 returns[NR_RETURNS];
	u64 ip, sp, fp;
	u64 regs[16];		/* in DWARF's order; sp and fp are above,
				   and in sp's place is the windows' bias */
	struct event events[MAX_EVENTS];
} __packed;

#define INPUT_MAX	(sizeof(struct input) + SECTION_MAX + STACK_MAX)

/* The memory, for every run the same. */
void input_memory(void);

/* Fill memory and registers; the opts are there, nothing is registered. */
void input_load(struct input *in, const u8 *data, size_t size);

unsigned long input_section(const struct input *in);
unsigned long input_length(const struct input *in);
unsigned long input_opts(const struct input *in);
u64 input_address(const struct input *in, u64 value);

/* Register what the input says; then its events start. */
void input_windows(const struct input *in);
void input_events(const struct input *in);

/* One step, by the kernel's code and by the reference. */
const struct step *compare_step(struct unwind_user_state *state);

int LLVMFuzzerTestOneInput(const u8 *data, size_t size);

#endif
