/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The sfjit authors */
#ifndef SFJIT_ARCH_SLOT_H
#define SFJIT_ARCH_SLOT_H

/* Bytes of a trampoline and of its data. */
#define SFJIT_SLOT_SIZE		32

#define SLOT_TRAP		0	/* none, of 2 bytes or 4 */
#define SLOT_UNIT_SHIFT		1	/* log2, see sfjit/packed.h */

#endif /* SFJIT_ARCH_SLOT_H */
