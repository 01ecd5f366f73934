/* SPDX-License-Identifier: GPL-2.0 */
/*
 * SPDX-FileCopyrightText: 2026 The sfjit authors
 *
 * Code of arm64_record_test.
 */
#ifndef SFRAME_TEST_RECORD_H
#define SFRAME_TEST_RECORD_H

/* Sets the frame pointer to its target; the byte after its prologue. */
extern const char record_fp[], record_fp_body[];

#endif /* SFRAME_TEST_RECORD_H */
