/* SPDX-License-Identifier: MIT */
/*
 * SPDX-FileCopyrightText: 2026 The sfjit authors
 *
 * Included before the kernel's selftests. They use <linux/types.h> of the
 * kernel's tools, which lacks types that <signal.h> needs on s390x.
 */
#ifndef __ASSEMBLER__
#include <asm/types.h>
#endif
