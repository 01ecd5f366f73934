// SPDX-License-Identifier: GPL-2.0
// SPDX-FileCopyrightText: 2026 The sfjit authors
/*
 * /dev/sfjit. Its owner, group and mode control which users may register
 * windows.
 */
#include <linux/compat.h>
#include <linux/file.h>
#include <linux/fs.h>
#include <linux/miscdevice.h>

#include "device.h"
#include "series.h"
#include "sfjit.h"
#include "target.h"

static long sfjit_ioctl(struct file *file, unsigned int command,
			unsigned long arg);

static const struct file_operations sfjit_device_ops = {
	.owner		= THIS_MODULE,
	.open		= nonseekable_open,
	.unlocked_ioctl	= sfjit_ioctl,
	.compat_ioctl	= compat_ptr_ioctl,
};

/* Root may write until udev gives it a group. */
static struct miscdevice sfjit_device = {
	.minor	= MISC_DYNAMIC_MINOR,
	.name	= "sfjit",
	.fops	= &sfjit_device_ops,
	.mode	= 0644,
};

/*
 * May current register windows by prctl()? Only if it can open the node to
 * write, in its root directory: a container without the node cannot.
 */
bool sfjit_device_permits(void)
{
	struct file *file = filp_open(SFJIT_DEVICE, O_WRONLY | O_NONBLOCK |
				      O_NOCTTY, 0);
	bool ours;

	if (IS_ERR(file))
		return false;
	ours = file->f_op == &sfjit_device_ops;
	fput(file);
	return ours;
}

static int sfjit_call(const struct sfjit_request *request,
		      struct mm_struct *mm, bool add)
{
	if (!add)
		return sframe_prctl_unregister(request->key, request->address,
					       request->length, request->opts);
	return sfjit_register(mm, request->key, request->address,
			      request->length, request->opts);
}

static int sfjit_do_request(const struct sfjit_request *request, bool add)
{
	struct sfjit_target target;
	int ret;

	if (!(request->flags & SFJIT_REQUEST_PIDFD))
		return sfjit_call(request, current->mm, add);
	ret = sfjit_target_begin(&target, request->pidfd);
	if (ret)
		return ret;
	ret = sfjit_call(request, target.mm, add);
	sfjit_target_end(&target);
	return ret;
}

static int sfjit_read_request(struct sfjit_request *request,
			      const void __user *from)
{
	if (copy_from_user(request, from, sizeof(*request)))
		return -EFAULT;
	if (request->flags & ~SFJIT_REQUEST_PIDFD ||
	    (!request->flags && request->pidfd))
		return -EINVAL;
	return 0;
}

/* Any process may remove its windows: it may be about to free a section. */
static int sfjit_check_request(struct file *file,
			       const struct sfjit_request *request, bool add)
{
	if (!add && !(request->flags & SFJIT_REQUEST_PIDFD))
		return 0;
	/* Check the caller: another process may have opened the file. */
	return file_permission(file, MAY_WRITE) ? -EPERM : 0;
}

static int sfjit_take_request(struct file *file, const void __user *from,
			      bool add)
{
	struct sfjit_request request;
	int ret;

	if (in_compat_syscall())
		return -EOPNOTSUPP;
	ret = sfjit_read_request(&request, from);
	if (ret)
		return ret;
	ret = sfjit_check_request(file, &request, add);
	return ret ?: sfjit_do_request(&request, add);
}

static long sfjit_ioctl(struct file *file, unsigned int command,
			unsigned long arg)
{
	switch (command) {
	case SFJIT_IOC_REGISTER:
		return sfjit_take_request(file, (const void __user *)arg, true);
	case SFJIT_IOC_UNREGISTER:
		return sfjit_take_request(file, (const void __user *)arg,
					  false);
	case SFJIT_IOC_QUERY:
		return sframe_prctl_query(arg, 0, 0, 0);
	case SFJIT_IOC_FILES:
		return sfjit_open_files(arg, 0, 0, 0);
	}
	return -ENOTTY;
}

int sfjit_device_init(void)
{
	return misc_register(&sfjit_device);
}

void sfjit_device_exit(void)
{
	misc_deregister(&sfjit_device);
}
