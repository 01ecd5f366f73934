// SPDX-License-Identifier: GPL-2.0
/*
 * SPDX-FileCopyrightText: 2026 The sfjit authors
 *
 * Tracers of deferred user stacks beside perf, which is otherwise the only one
 * and never goes away. Each open /dev/sframe_tracer is one. A byte written:
 *
 *   r       all of them request the stack of this task, in the order in which
 *           they were opened
 *   c       this one is cancelled
 *
 * A read tells what this one has got, as struct seen.
 *
 * The functions are not exported: their addresses, from /proc/kallsyms, are
 * the parameters init, request and cancel.
 */
#include <linux/cleanup.h>
#include <linux/fs.h>
#include <linux/list.h>
#include <linux/miscdevice.h>
#include <linux/module.h>
#include <linux/mutex.h>
#include <linux/slab.h>
#include <linux/uaccess.h>
#include <linux/unwind_deferred.h>

#include "sframe_tracer.h"

static unsigned long init, request, cancel;
module_param(init, ulong, 0600);
module_param(request, ulong, 0600);
module_param(cancel, ulong, 0600);

struct tracer {
	struct list_head	list;
	struct unwind_work	work;
	struct seen		seen;
};

static LIST_HEAD(tracers);		/* that are not cancelled */
static DEFINE_MUTEX(tracers_lock);

static void tracer_func(struct unwind_work *work,
			struct unwind_stacktrace *trace, u64 cookie)
{
	struct seen *seen = &container_of(work, struct tracer, work)->seen;
	unsigned int i;

	seen->stacks++;
	seen->cookie = cookie;
	seen->assisted = trace->assisted;
	seen->nr = trace->nr;
	for (i = 0; i < trace->nr && i < SEEN_MAX; i++)
		seen->ip[i] = trace->entries[i];
}

static int tracer_open(struct inode *inode, struct file *file)
{
	int (*do_init)(struct unwind_work *work, unwind_callback_t func) =
		(void *)init;
	struct tracer *tracer;
	int ret;

	tracer = kzalloc_obj(*tracer);
	if (!tracer)
		return -ENOMEM;
	guard(mutex)(&tracers_lock);
	ret = do_init(&tracer->work, tracer_func);
	if (ret) {
		kfree(tracer);
		return ret;
	}
	list_add_tail(&tracer->list, &tracers);
	file->private_data = tracer;
	return 0;
}

static int tracers_request(void)
{
	int (*do_request)(struct unwind_work *work, u64 *cookie) =
		(void *)request;
	struct tracer *tracer;
	int ret;

	list_for_each_entry(tracer, &tracers, list) {
		ret = do_request(&tracer->work, &tracer->seen.requested);
		if (ret < 0)
			return ret;
	}
	return 0;
}

static void tracer_cancel(struct tracer *tracer)
{
	void (*do_cancel)(struct unwind_work *work) = (void *)cancel;

	if (list_empty(&tracer->list))
		return;
	list_del_init(&tracer->list);
	do_cancel(&tracer->work);
}

static ssize_t tracer_write(struct file *file, const char __user *ubuf,
			    size_t len, loff_t *pos)
{
	char byte;

	if (len != 1)
		return -EINVAL;
	if (get_user(byte, ubuf))
		return -EFAULT;

	guard(mutex)(&tracers_lock);
	switch (byte) {
	case 'r':
		return tracers_request() ?: 1;
	case 'c':
		tracer_cancel(file->private_data);
		return 1;
	default:
		return -EINVAL;
	}
}

static ssize_t tracer_read(struct file *file, char __user *ubuf, size_t len,
			   loff_t *pos)
{
	struct tracer *tracer = file->private_data;

	if (len != sizeof(tracer->seen))
		return -EINVAL;
	if (copy_to_user(ubuf, &tracer->seen, len))
		return -EFAULT;
	return len;
}

static int tracer_release(struct inode *inode, struct file *file)
{
	struct tracer *tracer = file->private_data;

	scoped_guard(mutex, &tracers_lock)
		tracer_cancel(tracer);
	kfree(tracer);
	return 0;
}

static const struct file_operations tracer_fops = {
	.owner		= THIS_MODULE,
	.open		= tracer_open,
	.read		= tracer_read,
	.write		= tracer_write,
	.release	= tracer_release,
};

static struct miscdevice tracer_device = {
	.minor	= MISC_DYNAMIC_MINOR,
	.name	= "sframe_tracer",
	.fops	= &tracer_fops,
	.mode	= 0600,
};
module_misc_device(tracer_device);
MODULE_DESCRIPTION("Tracers of deferred user stacks, for tests");
MODULE_LICENSE("GPL");
