/* SPDX-License-Identifier: MIT */
/*
 * SPDX-FileCopyrightText: 2026 The sfjit authors
 *
 * Where branches lead to that have their distance in them.
 */
#ifndef SFJIT_ARCH_BRANCH_H
#define SFJIT_ARCH_BRANCH_H

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

/* Bytes to look at, and from one to the next. */
#define BRANCH_SIZE	6
#define BRANCH_STEP	1

/*
 * jmp and jcc with 32 bits. Where instructions begin is not known: some of these
 * are parts of others.
 */
static inline bool branch_target(const uint8_t *code, uintptr_t *target)
{
	int32_t distance;
	int at;

	if (code[0] == 0xe9)
		at = 1;
	else if (code[0] == 0x0f && (code[1] & 0xf0) == 0x80)
		at = 2;
	else
		return false;
	memcpy(&distance, code + at, sizeof(distance));
	*target = (uintptr_t)code + at + 4 + distance;
	return true;
}

#endif /* SFJIT_ARCH_BRANCH_H */
