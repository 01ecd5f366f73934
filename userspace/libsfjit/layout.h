/* SPDX-License-Identifier: MIT */
/*
 * SPDX-FileCopyrightText: 2026 The sfjit authors
 *
 * Layout of a trampoline window, shared with the assembler.
 */
#ifndef SFJIT_LAYOUT_H
#define SFJIT_LAYOUT_H

/* Bytes of code of a window, and the distance from a slot to its data. */
#define SFJIT_WINDOW_SIZE	0x10000

/*
 * SFJIT_SLOT_SIZE: code and data of a slot are equally large, so that the
 * distance is constant.
 */
#include <slot.h>

#endif /* SFJIT_LAYOUT_H */
