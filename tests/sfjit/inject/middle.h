/* SPDX-License-Identifier: MIT */
/*
 * SPDX-FileCopyrightText: 2026 The sfjit authors
 *
 * A caller of leaf(), which the including file defines. It does something after
 * leaf() has returned.
 */
#ifndef SFJIT_TEST_MIDDLE_H
#define SFJIT_TEST_MIDDLE_H

#define NOINLINE	__attribute__((noipa))

static volatile unsigned long sum;

NOINLINE static void leaf(void);

/* Through @call, if given. */
NOINLINE static void middle(void (*call)(void (*)(void)))
{
	if (call)
		call(leaf);
	else
		leaf();
	sum++;
}

#endif /* SFJIT_TEST_MIDDLE_H */
