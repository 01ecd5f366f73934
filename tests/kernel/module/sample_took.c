// SPDX-License-Identifier: GPL-2.0
/*
 * SPDX-FileCopyrightText: 2026 The sfjit authors
 *
 * Tells perf how long samples took, as interrupt handlers of PMUs do; an
 * emulated machine has no PMU. A number written to the parameter length becomes
 * perf's average of the nanoseconds of a sample.
 *
 * The function is not exported: its address, from /proc/kallsyms, is the
 * parameter took.
 */
#include <linux/kernel.h>
#include <linux/irqflags.h>
#include <linux/module.h>
#include <linux/moduleparam.h>

/* Of an average over 128. */
#define NR_SAMPLES	4096

static unsigned long took;
module_param(took, ulong, 0400);

static int set_length(const char *text, const struct kernel_param *param)
{
	void (*event_took)(u64 ns) = (void *)took;
	u64 length;
	int ret, i;

	ret = kstrtou64(text, 0, &length);
	if (ret)
		return ret;

	guard(irqsave)();
	for (i = 0; i < NR_SAMPLES; i++)
		event_took(length);
	return 0;
}

static const struct kernel_param_ops length_ops = {
	.set = set_length,
};
module_param_cb(length, &length_ops, NULL, 0200);

static int __init took_init(void)
{
	return took ? 0 : -EINVAL;
}

static void __exit took_exit(void)
{
}

module_init(took_init);
module_exit(took_exit);
MODULE_DESCRIPTION("Lengths of samples that perf is told, for tests");
MODULE_LICENSE("GPL");
