/* SPDX-License-Identifier: MIT */
/*
 * SPDX-FileCopyrightText: 2026 The sfjit authors
 *
 * Threads that are sampled as often as perf does it, with callchains of both
 * kinds, and the one that looks at them.
 */
#ifndef SAMPLE_H
#define SAMPLE_H

#include "sframe_test.h"

/*
 * Called for each callchain, always by the same thread; @arg is from the
 * sampled thread.
 */
typedef void (*sample_fn)(const struct sft_chain *chain, bool defer, void *arg);

/* Memory for stacks and sections of code that is sampled; NULL on failure. */
void *sample_memory(size_t size);
/* Have perf take as many samples as asked for. */
void sample_prepare(void);
/* Start sampling the calling thread, for @fn(, , @arg). 0 or -errno. */
int sample_self(sample_fn fn, void *arg);
/* Start a thread that looks at samples until sample_stop(). 0 or -errno. */
int sample_start(void);
/*
 * Look at what is left, and stop. Sampled threads may be gone. 0, or a negative
 * errno if records were not as they should be.
 */
int sample_stop(void);

#endif /* SAMPLE_H */
