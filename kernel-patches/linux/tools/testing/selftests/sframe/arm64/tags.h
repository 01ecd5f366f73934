/* SPDX-License-Identifier: GPL-2.0 */
/*
 * SPDX-FileCopyrightText: 2026 The sfjit authors
 *
 * Code in frames.S that tags pointers and memory.
 */
#ifndef SFRAME_TEST_TAGS_H
#define SFRAME_TEST_TAGS_H

/* Calls sft_leaf; the target is a tag, which it puts in the frame pointer. */
extern const char sft_tag_fp[], sft_tag_fp_ret[], sft_tag_fp_end[];
/* Tags the 16 bytes at its target with the target's tag until it returns. */
extern const char sft_tag_granule[], sft_tag_granule_body[];

#endif /* SFRAME_TEST_TAGS_H */
