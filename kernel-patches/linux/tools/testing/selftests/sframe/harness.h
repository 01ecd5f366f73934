/* SPDX-License-Identifier: GPL-2.0 */
/*
 * SPDX-FileCopyrightText: 2026 The sfjit authors
 *
 * The kselftest harness with a timeout for emulated machines under load.
 */
#ifndef SFRAME_HARNESS_H
#define SFRAME_HARNESS_H

#include "kselftest_harness.h"

#undef TEST_TIMEOUT_DEFAULT
#define TEST_TIMEOUT_DEFAULT	1200

#endif /* SFRAME_HARNESS_H */
