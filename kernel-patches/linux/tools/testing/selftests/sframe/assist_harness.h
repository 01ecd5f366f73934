/* SPDX-License-Identifier: GPL-2.0 */
/*
 * SPDX-FileCopyrightText: 2026 The sfjit authors
 *
 * Setup and teardown of tests that each have a perf session. Teardown checks
 * all records of the session.
 */
#ifndef SFRAME_ASSIST_HARNESS_H
#define SFRAME_ASSIST_HARNESS_H

#include "harness.h"

#include "assist_test.h"

static struct sfa_log sample_log;

static inline void begin_session(struct __test_metadata *_metadata,
				 struct sfa_session *perf)
{
	ASSERT_EQ(0, sfa_begin());
	ASSERT_EQ(0, sfa_event_open(&perf->event));
	perf->log = &sample_log;
	sfa_me.data = _metadata;
}

static inline void end_session(struct __test_metadata *_metadata,
			       struct sfa_session *perf)
{
	EXPECT_EQ(0, sfa_session_read(perf));
	EXPECT_TRUE(sfa_log_right(perf->log));
	EXPECT_TRUE(sfa_balanced());
	sft_event_close(&perf->event);
}

#endif /* SFRAME_ASSIST_HARNESS_H */
