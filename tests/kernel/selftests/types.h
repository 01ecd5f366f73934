/* SPDX-License-Identifier: MIT */
/*
 * SPDX-FileCopyrightText: 2026 The sfjit authors
 *
 * Comes before the kernel's selftests: they use <linux/types.h> of the kernel's
 * tools, which lacks types that <signal.h> of s390x takes from there.
 */
#ifndef __ASSEMBLER__
#include <asm/types.h>
#endif
