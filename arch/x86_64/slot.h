/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The sfjit authors */
#ifndef SFJIT_ARCH_SLOT_H
#define SFJIT_ARCH_SLOT_H

/* Bytes of a trampoline and of its data. */
#define SFJIT_SLOT_SIZE		16

#define SLOT_TRAP		0xcc	/* int3, wherever it is run */
#define SLOT_UNIT_SHIFT		0	/* log2, see sfjit/packed.h */

#endif /* SFJIT_ARCH_SLOT_H */
