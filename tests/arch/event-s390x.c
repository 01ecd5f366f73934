// SPDX-License-Identifier: MIT
/*
 * SPDX-FileCopyrightText: 2026 The sfjit authors
 *
 * Description: what an empty function is diverted to on s390x is told which one
 * it is, and keeps each register, vectors, the condition code and the caller's
 * back chain included, whatever is called from there.
 */
#include <stdlib.h>

#include <code.h>

#include "../lib/tap.h"

struct kept {
	uint64_t general[12];
	uint32_t flags, fpc;
	uint64_t unused;
	uint64_t back_chain, unused2;
	uint8_t vectors[CODE_VECTORS_VX];
};

/* event-s390x.S */
void kept_fp(const void *function, const struct kept *before,
	     struct kept *after);
void kept_vx(const void *function, const struct kept *before,
	     struct kept *after);
void spoil_fp(void);
void spoil_vx(void);

unsigned long code_vectors;
static unsigned long event;

void code_event(unsigned long number)
{
	event = number;
	spoil_fp();
	if (code_vectors == CODE_VECTORS_VX)
		spoil_vx();
}

static void fill(void *to, size_t length)
{
	uint8_t *byte = to;

	while (length--)
		*byte++ = random();
}

/* 'flags': the condition code, and the mask of a program's interrupts. */
static void check(unsigned int number, uint32_t flags)
{
	static struct kept before, after;

	fill(&before, sizeof(before));
	before.flags = flags;
	before.fpc = 0x00880003;
	(code_vectors == CODE_VECTORS_VX ? kept_vx : kept_fp)
		(code_events + number * CODE_EVENT_SIZE, &before, &after);
	IS("number of the event", event, number);
	TRUE("general registers", !memcmp(before.general, after.general,
					  sizeof(before.general)));
	/* After these, ipm leaves r0 unchanged. */
	TRUE("condition code and mask",
	     !((before.flags ^ after.flags) & 0x3f000000));
	TRUE("state of FP", before.fpc == after.fpc);
	TRUE("back chain", before.back_chain == after.back_chain);
	TRUE("vectors", !memcmp(before.vectors, after.vectors, code_vectors));
}

int main(void)
{
	code_vectors = CODE_VECTORS_FP;
	check(0, 0x10000000);
	check(CODE_EVENTS - 1, 0x20000000);
	if (code_vectors_size() == CODE_VECTORS_FP) {
		skip("vector registers", "the processor has none");
		return finish();
	}
	code_vectors = CODE_VECTORS_VX;
	check(1, 0x30000000);
	check(2, 0);
	return finish();
}
