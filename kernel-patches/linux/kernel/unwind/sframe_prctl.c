// SPDX-License-Identifier: GPL-2.0
/*
 * prctl() interface of SFrame windows: a prototype for a system call. The
 * registry does not depend on it.
 */
#include <linux/compat.h>
#include <linux/err.h>
#include <linux/mm.h>
#include <linux/sframe.h>
#include <linux/slab.h>
#include <linux/uaccess.h>

#include "sframe.h"
#include "sframe_packed.h"

#define SFRAME_WINDOW_FLAGS	SFRAME_WINDOW_REPLACE
#define SFRAME_WINDOW_FORMATS	\
	(BIT(SFRAME_FORMAT_V3) | BIT(SFRAME_FORMAT_PACKED))

/**
 * sframe_copy_opts - copy a structure that begins with its size
 * @opts:	destination
 * @ksize:	size of @opts
 * @least:	size in the first version of the interface
 * @uopts:	source
 *
 * Return: 0, -EINVAL, -E2BIG or -EFAULT.
 */
int sframe_copy_opts(void *opts, size_t ksize, size_t least,
		     const void __user *uopts)
{
	u32 size;

	if (get_user(size, (const u32 __user *)uopts))
		return -EFAULT;
	if (size < least)
		return -EINVAL;
	if (size > PAGE_SIZE)
		return -E2BIG;

	/* This copies the size again: rely on the local variable only. */
	return copy_struct_from_user(opts, ksize, uopts, size);
}

static int sframe_read_opts(struct sframe_window_opts *opts,
			    const void __user *uopts)
{
	int ret;

	memset(opts, 0, sizeof(*opts));
	if (!uopts)
		return 0;

	ret = sframe_copy_opts(opts, sizeof(*opts),
			       SFRAME_WINDOW_OPTS_SIZE_VER0, uopts);
	if (ret)
		return ret;

	if (opts->flags & ~SFRAME_WINDOW_FLAGS || opts->reserved)
		return -EINVAL;
	if (opts->format >= BITS_PER_LONG ||
	    !(SFRAME_WINDOW_FORMATS & BIT(opts->format)))
		return -EINVAL;
	return 0;
}

/* The code that the table describes. */
static int sframe_default_range(const struct sframe_window *window,
				unsigned long *start, unsigned long *end)
{
	const struct sframe_packed *packed = &window->packed;

	if (!sframe_is_packed(window))
		return sframe_read_text_range(&window->section, start, end);
	*start = packed->text_start;
	return check_add_overflow(*start, packed->text_length, end) ?
	       -EINVAL : 0;
}

static int sframe_text_range(struct sframe_window *window,
			     const struct sframe_window_opts *opts)
{
	unsigned long start = opts->text_start, end;
	int ret;

	if (!opts->text_start && !opts->text_length) {
		ret = sframe_default_range(window, &start, &end);
		if (ret)
			return ret;
	} else if (check_add_overflow(start, opts->text_length, &end)) {
		return -EINVAL;
	}

	/* Text must be in user space. This refuses tagged addresses as well. */
	if (start >= end || end > TASK_SIZE)
		return -EINVAL;
	window->text_start = start;
	window->text_end = end;
	return 0;
}

static int sframe_fill_packed(struct sframe_window *window,
			      const struct sframe_window_opts *opts,
			      unsigned long addr, unsigned long len)
{
	int ret;

	/* For /proc/<pid>/sframe. */
	window->section.start = addr;
	window->section.length = len;
	window->section.bias = opts->text_bias;
	ret = sframe_read_packed_header(&window->packed, addr, len,
					opts->text_bias);
	return ret ?: sframe_text_range(window, opts);
}

static int sframe_fill_window(struct sframe_window *window,
			      const struct sframe_window_opts *opts,
			      unsigned long addr, unsigned long len)
{
	int ret;

	window->format = opts->format;
	if (sframe_is_packed(window))
		return sframe_fill_packed(window, opts, addr, len);

	window->section.bias = opts->text_bias;
	ret = sframe_read_header(&window->section, addr, len);
	if (ret)
		return ret;
	return sframe_text_range(window, opts);
}

static int sframe_make_window(struct sframe_window **window, unsigned long key,
			      const struct sframe_window_opts *opts,
			      unsigned long addr, unsigned long len)
{
	struct sframe_window draft = { .key = key };
	int ret;

	ret = sframe_fill_window(&draft, opts, addr, len);
	if (ret)
		return ret;
	*window = sframe_window_alloc(&draft);
	return *window ? 0 : -ENOMEM;
}

/**
 * sframe_prctl_register - PR_SFRAME_REGISTER
 * @key:	name of the window, unique in the address space
 * @addr:	address of its SFrame section
 * @len:	length of the section
 * @opts:	NULL or address of struct sframe_window_opts
 *
 * Return: 0 or a negative error.
 */
int sframe_prctl_register(unsigned long key, unsigned long addr,
			  unsigned long len, unsigned long opts)
{
	struct sframe_window_opts kopts;
	struct sframe_window *window;
	int ret;

	/* Sections and walks are for tasks with the kernel's word size. */
	if (in_compat_syscall())
		return -EOPNOTSUPP;

	ret = sframe_read_opts(&kopts, (const void __user *)opts);
	if (ret)
		return ret;

	ret = sframe_make_window(&window, key, &kopts, addr, len);
	if (ret)
		return ret;
	ret = sframe_register(window, kopts.flags & SFRAME_WINDOW_REPLACE);
	if (ret)
		sframe_window_free(window);
	return ret;
}

/**
 * sframe_prctl_unregister - PR_SFRAME_UNREGISTER
 * @key:	name of the window
 * @arg3:	must be 0
 * @arg4:	must be 0
 * @arg5:	must be 0
 *
 * Return: 0 or a negative error.
 */
int sframe_prctl_unregister(unsigned long key, unsigned long arg3,
			    unsigned long arg4, unsigned long arg5)
{
	if (arg3 || arg4 || arg5)
		return -EINVAL;
	if (in_compat_syscall())
		return -EOPNOTSUPP;
	return sframe_unregister(key);
}

/**
 * sframe_prctl_files - PR_SFRAME_FILES
 * @arg2:	must be 0
 * @arg3:	must be 0
 * @arg4:	must be 0
 * @arg5:	must be 0
 *
 * Return: a descriptor, or a negative error.
 */
int sframe_prctl_files(unsigned long arg2, unsigned long arg3,
		       unsigned long arg4, unsigned long arg5)
{
	if (!IS_ENABLED(CONFIG_UNWIND_USER_SFRAME_FILES) ||
	    arg2 || arg3 || arg4 || arg5)
		return -EINVAL;
	return sframe_files_open();
}

/**
 * sframe_prctl_query - PR_SFRAME_QUERY
 * @what:	PR_SFRAME_QUERY_*
 * @arg3:	must be 0
 * @arg4:	must be 0
 * @arg5:	must be 0
 *
 * Return: the answer, or a negative error.
 */
int sframe_prctl_query(unsigned long what, unsigned long arg3,
		       unsigned long arg4, unsigned long arg5)
{
	if (arg3 || arg4 || arg5)
		return -EINVAL;
	if (in_compat_syscall())
		return -EOPNOTSUPP;

	switch (what) {
	case PR_SFRAME_QUERY_FLAGS:
		return SFRAME_WINDOW_FLAGS;
	case PR_SFRAME_QUERY_FORMATS:
		return SFRAME_WINDOW_FORMATS;
	case PR_SFRAME_QUERY_LIMIT:
		return sframe_window_limit();
	default:
		return -EINVAL;
	}
}
