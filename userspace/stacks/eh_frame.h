/* SPDX-License-Identifier: MIT */
/*
 * SPDX-FileCopyrightText: 2026 The sfjit authors
 *
 * .eh_frame in bytes of a file that does not say where it is: static programs
 * have no .eh_frame_hdr, and section headers can be removed.
 */
#ifndef SFJIT_STACKS_EH_FRAME_H
#define SFJIT_STACKS_EH_FRAME_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*
 * The first place from which CIEs and FDEs follow each other up to a terminator
 * or the end. The bytes begin at a multiple of 4; @swapped: they have the other
 * byte order. Takes time in proportion to @length, whatever is there.
 */
bool eh_frame_find(const uint8_t *bytes, size_t length, bool swapped,
		   size_t *at, size_t *size);

#endif /* SFJIT_STACKS_EH_FRAME_H */
