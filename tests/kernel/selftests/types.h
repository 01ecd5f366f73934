/* SPDX-License-Identifier: MIT */
/*
 * SPDX-FileCopyrightText: 2026 The sfjit authors
 *
 * In front of the kernel's selftests: their <linux/types.h> is that of the
 * kernel's tools, which lacks types that <signal.h> of s390x has from there.
 */
#ifndef __ASSEMBLER__
#include <asm/types.h>
#endif
