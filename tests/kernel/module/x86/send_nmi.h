/* SPDX-License-Identifier: GPL-2.0 */
/*
 * SPDX-FileCopyrightText: 2026 The sfjit authors
 *
 * An NMI is an interrupt between CPUs.
 */
#include <linux/cpumask.h>

#include <asm/apic.h>
#include <asm/nmi.h>

static int probe_nmi(unsigned int type, struct pt_regs *regs)
{
	return probe_in_nmi() ? NMI_HANDLED : NMI_DONE;
}

static int probe_nmi_init(void)
{
	return register_nmi_handler(NMI_LOCAL, probe_nmi, 0, "sframe_probe");
}

static void probe_nmi_exit(void)
{
	unregister_nmi_handler(NMI_LOCAL, "sframe_probe");
}

static int probe_nmi_begin(int cpu)
{
	return 0;
}

/* The caller keeps the CPU from going away. */
static int probe_send_nmi(int cpu)
{
	apic->send_IPI_mask(cpumask_of(cpu), NMI_VECTOR);
	return probe_wait();
}

static void probe_nmi_end(void)
{
}
