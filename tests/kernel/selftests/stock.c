// SPDX-License-Identifier: MIT
/*
 * SPDX-FileCopyrightText: 2026 The sfjit authors
 *
 * For kernels with the module in place of the series: read /proc/sfjit instead
 * of /proc/self/sframe, and defer no stacks. Linked with --wrap of these
 * functions.
 */
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "sframe_test.h"

#define LISTING	"/proc/self/sframe"

FILE *__real_fopen(const char *path, const char *mode);
FILE *__wrap_fopen(const char *path, const char *mode);
void __real_sft_attr_init(struct perf_event_attr *attr, __u32 type, bool defer);
void __wrap_sft_attr_init(struct perf_event_attr *attr, __u32 type, bool defer);
int __real_sft_chain_at(const void *addr, bool defer,
			const struct sft_call *call, struct sft_chain *chain);
int __wrap_sft_chain_at(const void *addr, bool defer,
			const struct sft_call *call, struct sft_chain *chain);

static bool is_by_module(void)
{
	return access(LISTING, F_OK) && !access("/proc/sfjit", F_OK);
}

FILE *__wrap_fopen(const char *path, const char *mode)
{
	if (!strcmp(path, LISTING) && is_by_module())
		path = "/proc/sfjit";
	return __real_fopen(path, mode);
}

void __wrap_sft_attr_init(struct perf_event_attr *attr, __u32 type, bool defer)
{
	__real_sft_attr_init(attr, type, defer && !is_by_module());
}

int __wrap_sft_chain_at(const void *addr, bool defer,
			const struct sft_call *call, struct sft_chain *chain)
{
	return __real_sft_chain_at(addr, defer && !is_by_module(), call, chain);
}
