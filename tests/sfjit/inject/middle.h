/* SPDX-License-Identifier: MIT */
/*
 * SPDX-FileCopyrightText: 2026 The sfjit authors
 *
 * A caller of leaf(), which who includes this defines, that does something when
 * it is back.
 */
#ifndef SFJIT_TEST_MIDDLE_H
#define SFJIT_TEST_MIDDLE_H

#define NOINLINE	__attribute__((noipa))

static volatile unsigned long sum;

NOINLINE static void leaf(void);

/* By @call, if there is one. */
NOINLINE static void middle(void (*call)(void (*)(void)))
{
	if (call)
		call(leaf);
	else
		leaf();
	sum++;
}

#endif /* SFJIT_TEST_MIDDLE_H */
