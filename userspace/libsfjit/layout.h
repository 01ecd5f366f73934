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

/* SFJIT_SLOT_SIZE: of a slot and of its data, so that the distance is fixed. */
#include <slot.h>

#endif /* SFJIT_LAYOUT_H */
