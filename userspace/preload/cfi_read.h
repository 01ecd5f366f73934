/* SPDX-License-Identifier: MIT */
/*
 * SPDX-FileCopyrightText: 2026 The sfjit authors
 *
 * Call frame information from what a program gave to __register_frame().
 */
#ifndef SFJIT_PRELOAD_CFI_READ_H
#define SFJIT_PRELOAD_CFI_READ_H

#include <stddef.h>
#include <stdint.h>

#include <sframegen.h>

/*
 * libgcc takes records up to a zero terminator, LLVM's libunwind one FDE: what
 * begins with a CIE is the first, what begins with an FDE the second. The
 * result is a copy in the arena, for the addresses of the original. On failure
 * *reason is a constant string. -ENODATA: there are no records, which is no
 * mistake.
 */
int cfi_read(uintptr_t begin, struct sfg_image *image, const char **reason);

#endif /* SFJIT_PRELOAD_CFI_READ_H */
