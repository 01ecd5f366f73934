/* SPDX-License-Identifier: GPL-2.0 */
/*
 * SPDX-FileCopyrightText: 2026 The sfjit authors
 *
 * An NMI is the interrupt of a counter, which comes every millisecond while it
 * is asked for. The first one that finds itself expected is taken.
 */
#include <linux/cpufeature.h>
#include <linux/err.h>
#include <linux/perf_event.h>

static struct perf_event *probe_counter;

static void probe_overflow(struct perf_event *event,
			   struct perf_sample_data *data, struct pt_regs *regs)
{
	probe_in_nmi();
}

static int probe_nmi_init(void)
{
	return system_uses_irq_prio_masking() ? 0 : -ENODEV;
}

static void probe_nmi_exit(void)
{
}

static int probe_nmi_begin(int cpu)
{
	struct perf_event_attr attr = {
		.type		= PERF_TYPE_HARDWARE,
		.size		= sizeof(attr),
		.config		= PERF_COUNT_HW_CPU_CYCLES,
		.sample_period	= 1000000,
		.pinned		= 1,
	};

	probe_counter = perf_event_create_kernel_counter(&attr, cpu, NULL,
							 probe_overflow, NULL);
	return PTR_ERR_OR_ZERO(probe_counter);
}

/*
 * The caller keeps the CPU from going away. No interrupt but an NMI comes while
 * this waits for one of its own.
 */
static int probe_send_nmi(int cpu)
{
	guard(irqsave)();
	return probe_wait();
}

static void probe_nmi_end(void)
{
	perf_event_release_kernel(probe_counter);
}
