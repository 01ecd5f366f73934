/* SPDX-License-Identifier: GPL-2.0 */
/*
 * SPDX-FileCopyrightText: 2026 The sfjit authors
 *
 * Code that gives tags; in frames.S.
 */
#ifndef SFRAME_TEST_TAGS_H
#define SFRAME_TEST_TAGS_H

/* Calls sft_leaf, with a frame pointer that has the tag that is its target. */
extern const char sft_tag_fp[], sft_tag_fp_ret[], sft_tag_fp_end[];
/* Gives the 16 bytes at its target the tag of that, until it returns. */
extern const char sft_tag_granule[], sft_tag_granule_body[];

#endif /* SFRAME_TEST_TAGS_H */
