/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The sfjit authors */
#ifndef SFJIT_ARCH_SLOT_H
#define SFJIT_ARCH_SLOT_H

/* Bytes of a trampoline and of its data. */
#define SFJIT_SLOT_SIZE		32

/* No instruction begins with 00. */
#define SLOT_TRAP		0

#endif /* SFJIT_ARCH_SLOT_H */
