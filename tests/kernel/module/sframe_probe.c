// SPDX-License-Identifier: GPL-2.0
/*
 * SPDX-FileCopyrightText: 2026 The sfjit authors
 *
 * Trace event sframe_probe:sframe_probe from contexts that a test chooses, so
 * that perf takes the callchain of the interrupted task there. One byte
 * written to /dev/sframe_probe:
 *
 *   n       in an NMI on this CPU
 *   w       in irq_work on this CPU
 *   0 to 7  in an NMI on the CPU of this number
 *
 * The write returns when the event has fired: 1, or -EIO if it ran in another
 * context than it should, or -ETIMEDOUT if not at all. A read of 8 bytes then
 * tells how far the counter of get_cycles() went in the event; nothing interrupts
 * it there. How NMIs are made is in the directory of the machine.
 *
 * While the parameter period has a number of nanoseconds, and the CPU that has
 * set it executes user code of a task with an event, a timer fires it as well:
 * 't'. The parameters samples and cycles then tell how often, and how far the
 * counter went, since the period was set.
 */
#include <linux/cpu.h>
#include <linux/delay.h>
#include <linux/hrtimer.h>
#include <linux/irq_work.h>
#include <linux/miscdevice.h>
#include <linux/module.h>
#include <linux/preempt.h>
#include <linux/sched.h>
#include <linux/timex.h>
#include <linux/uaccess.h>

#include <asm/irq_regs.h>

#define CREATE_TRACE_POINTS
#include "sframe_probe_trace.h"

#define PROBE_TIMEOUT_US	10000000

static DEFINE_MUTEX(probe_lock);
static atomic_t probe_cpu = ATOMIC_INIT(-1);	/* which is to take the NMI */
static int probe_result;
static u64 probe_cycles;

static void probe_fire(char context, bool as_it_should)
{
	u64 start = get_cycles();

	trace_sframe_probe(context);
	probe_cycles = get_cycles() - start;
	/* Pairs with probe_wait(): the event is over. */
	smp_store_release(&probe_result, as_it_should ? 1 : -EIO);
}

/* False if the NMI has another source. */
static bool probe_in_nmi(void)
{
	if (atomic_cmpxchg(&probe_cpu, smp_processor_id(), -1) !=
	    smp_processor_id())
		return false;

	probe_fire('n', in_nmi());
	return true;
}

static void probe_irq_work(struct irq_work *work)
{
	probe_fire('w', in_hardirq() && !in_nmi());
}

static int probe_wait(void)
{
	unsigned int us;
	int result = 0;

	for (us = 0; !result && us < PROBE_TIMEOUT_US; us++) {
		udelay(1);
		/* Pairs with probe_fire(). */
		result = smp_load_acquire(&probe_result);
	}
	return result ?: -ETIMEDOUT;
}

#include "send_nmi.h"

static int probe_expect_nmi(int cpu)
{
	int result;

	atomic_set(&probe_cpu, cpu);
	result = probe_send_nmi(cpu);
	atomic_set(&probe_cpu, -1);
	return result;
}

static int probe_nmi_on(unsigned int cpu)
{
	int result = probe_nmi_begin(cpu);

	if (result)
		return result;
	scoped_guard(preempt)
		result = probe_expect_nmi(cpu);
	probe_nmi_end();
	return result;
}

static int probe_nmi_here(void)
{
	int result;

	migrate_disable();
	result = probe_nmi_on(smp_processor_id());
	migrate_enable();
	return result;
}

static int probe_nmi_there(unsigned int cpu)
{
	if (cpu >= nr_cpu_ids || !cpu_online(cpu))
		return -ENXIO;

	guard(cpus_read_lock)();
	return probe_nmi_on(cpu);
}

static int probe_irq_work_here(void)
{
	struct irq_work work = IRQ_WORK_INIT_HARD(probe_irq_work);
	int result;

	irq_work_queue(&work);
	result = probe_wait();
	irq_work_sync(&work);
	return result;
}

static ssize_t probe_write(struct file *file, const char __user *ubuf,
			   size_t len, loff_t *pos)
{
	char byte;

	if (len != 1)
		return -EINVAL;
	if (get_user(byte, ubuf))
		return -EFAULT;

	guard(mutex)(&probe_lock);
	probe_result = 0;
	switch (byte) {
	case 'n':
		return probe_nmi_here();
	case 'w':
		return probe_irq_work_here();
	case '0' ... '7':
		return probe_nmi_there(byte - '0');
	default:
		return -EINVAL;
	}
}

static ssize_t probe_read(struct file *file, char __user *ubuf, size_t len,
			  loff_t *pos)
{
	if (len != sizeof(probe_cycles))
		return -EINVAL;

	guard(mutex)(&probe_lock);
	if (put_user(probe_cycles, (u64 __user *)ubuf))
		return -EFAULT;
	return len;
}

static const struct file_operations probe_fops = {
	.owner	= THIS_MODULE,
	.read	= probe_read,
	.write	= probe_write,
};

static struct miscdevice probe_device = {
	.minor	= MISC_DYNAMIC_MINOR,
	.name	= "sframe_probe",
	.fops	= &probe_fops,
	.mode	= 0600,
};

static struct hrtimer probe_timer;
static u64 probe_period;
static unsigned long samples, cycles;
module_param(samples, ulong, 0400);
module_param(cycles, ulong, 0400);

static enum hrtimer_restart probe_tick(struct hrtimer *timer)
{
	struct pt_regs *regs = get_irq_regs();
	u64 start;

	if (regs && user_mode(regs) && current->perf_event_ctxp) {
		start = get_cycles();
		trace_sframe_probe('t');
		cycles += get_cycles() - start;
		samples++;
	}
	hrtimer_forward_now(timer, ns_to_ktime(probe_period));
	return HRTIMER_RESTART;
}

static int probe_set_period(const char *text, const struct kernel_param *param)
{
	u64 period;
	int ret;

	ret = kstrtou64(text, 0, &period);
	if (ret)
		return ret;

	hrtimer_cancel(&probe_timer);
	if (!period)
		return 0;
	probe_period = period;
	samples = 0;
	cycles = 0;
	hrtimer_start(&probe_timer, ns_to_ktime(period),
		      HRTIMER_MODE_REL_PINNED_HARD);
	return 0;
}

static const struct kernel_param_ops probe_period_ops = {
	.set = probe_set_period,
};
module_param_cb(period, &probe_period_ops, NULL, 0200);

static int __init probe_init(void)
{
	int ret;

	hrtimer_setup(&probe_timer, probe_tick, CLOCK_MONOTONIC,
		      HRTIMER_MODE_REL_PINNED_HARD);
	ret = probe_nmi_init();
	if (ret)
		return ret;
	ret = misc_register(&probe_device);
	if (ret)
		probe_nmi_exit();
	return ret;
}

static void __exit probe_exit(void)
{
	hrtimer_cancel(&probe_timer);
	misc_deregister(&probe_device);
	probe_nmi_exit();
}

module_init(probe_init);
module_exit(probe_exit);
MODULE_DESCRIPTION("User callchains in NMI and interrupt context, for tests");
MODULE_LICENSE("GPL");
