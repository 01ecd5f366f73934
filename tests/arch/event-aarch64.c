// SPDX-License-Identifier: MIT
/*
 * SPDX-FileCopyrightText: 2026 The sfjit authors
 *
 * Description: what an empty function is diverted to on AArch64 is told which
 * one it is, and keeps each register, vectors and flags included, whatever is
 * called from there.
 */
#include <stdlib.h>
#include <sys/prctl.h>

#include <code.h>

#include "../lib/tap.h"

#define VECTOR_MAX	256

struct kept {
	uint64_t general[19];
	uint64_t flags, fpsr, fpcr;
	uint64_t unused[2];
	uint8_t vectors[32 * VECTOR_MAX + 17 * VECTOR_MAX / 8];
};

/* event-aarch64.S */
void kept(const void *function, const struct kept *before, struct kept *after);
void kept_sve(const void *function, const struct kept *before,
	      struct kept *after);
void spoil(void);
void spoil_sve(void);

unsigned long code_vectors;
static unsigned long event;

void code_event(unsigned long number)
{
	event = number;
	spoil();
	if (code_vectors == CODE_VECTORS_SVE)
		spoil_sve();
}

static void fill(void *to, size_t length)
{
	uint8_t *byte = to;

	while (length--)
		*byte++ = random();
}

/* 'vl': bytes of a vector of SVE, or 0. */
static void check(unsigned int number, size_t vl)
{
	size_t length = vl ? 32 * vl + 17 * vl / 8 : 32 * 16;
	static struct kept before, after;

	fill(&before, sizeof(before));
	before.flags = 0xa0000000;
	before.fpsr = 0x08000011;
	before.fpcr = 0x00c00000;
	/* FFR is a number of ones, and then zeros. */
	memset(before.vectors + length - vl / 8, 0, vl / 8);
	if (vl)
		before.vectors[length - vl / 8] = 0x1f;
	(vl ? kept_sve : kept)(code_events + number * CODE_EVENT_SIZE, &before,
			       &after);
	IS("number of the event", event, number);
	TRUE("general registers", !memcmp(before.general, after.general,
					  sizeof(before.general)));
	TRUE("flags", before.flags == after.flags);
	TRUE("state of FP", before.fpsr == after.fpsr &&
	     before.fpcr == after.fpcr);
	TRUE("vectors", !memcmp(before.vectors, after.vectors, length));
}

int main(void)
{
	unsigned long vl;

	code_vectors = CODE_VECTORS_SIMD;
	check(0, 0);
	check(CODE_EVENTS - 1, 0);
	if (code_vectors_size() == CODE_VECTORS_SIMD) {
		skip("scalable vectors", "the processor has none");
		return finish();
	}
	code_vectors = CODE_VECTORS_SVE;
	vl = prctl(PR_SVE_GET_VL) & PR_SVE_VL_LEN_MASK;
	MUST(vl >= 16 && vl <= VECTOR_MAX);
	check(1, vl);
	MUST(prctl(PR_SVE_SET_VL, 16) >= 0);
	check(2, 16);
	return finish();
}
