/* SPDX-License-Identifier: GPL-2.0 */
/*
 * SPDX-FileCopyrightText: 2026 The sfjit authors
 */
#ifndef SFRAME_TOGGLE_H
#define SFRAME_TOGGLE_H

#include "sframe_test.h"

/**
 * struct toggle - what toggle() is called with; its layout is in toggle.S
 * @call:	for sft_run()
 * @count:	rounds
 * @enable:	prctl option with which a round begins
 * @disable:	prctl option with which it ends
 * @key:	second argument of both
 * @section:	third argument of the first
 * @length:	fourth argument of the first
 */
struct toggle {
	struct sft_call	call;
	unsigned long	count;
	unsigned long	enable;
	unsigned long	disable;
	unsigned long	key;
	unsigned long	section;
	unsigned long	length;
};

/* The function, and its last instruction. */
extern const char toggle[], toggle_ret[];

#endif /* SFRAME_TOGGLE_H */
