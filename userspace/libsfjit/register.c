// SPDX-License-Identifier: MIT
/*
 * SPDX-FileCopyrightText: 2026 The sfjit authors
 *
 * Registration with the kernel: the only file that calls prctl().
 */
#include <errno.h>
#include <stdbool.h>
#include <sys/prctl.h>

#include <sfjit/format.h>
#include <sfjit/sframe.h>

#include "internal.h"

static long sframe_prctl(int option, unsigned long arg2, unsigned long arg3,
			 unsigned long arg4, unsigned long arg5)
{
	int ret = sfjit_fault("prctl");

	if (ret)
		return ret;
	ret = prctl(option, arg2, arg3, arg4, arg5);
	return ret < 0 ? -errno : ret;
}

static long query(unsigned long what)
{
	return sframe_prctl(PR_SFRAME_QUERY, what, 0, 0, 0);
}

static long zero_if_absent(long answer)
{
	return answer < 0 ? 0 : answer;
}

long sfjit_available(unsigned int question)
{
	switch (question) {
	case SFJIT_QUERY_KERNEL:
		return query(PR_SFRAME_QUERY_FLAGS) >= 0;
	case SFJIT_QUERY_FLAGS:
		return zero_if_absent(query(PR_SFRAME_QUERY_FLAGS));
	case SFJIT_QUERY_FORMATS:
		return zero_if_absent(query(PR_SFRAME_QUERY_FORMATS));
	case SFJIT_QUERY_LIMIT:
		return zero_if_absent(query(PR_SFRAME_QUERY_LIMIT));
	}
	return -EINVAL;
}

/*
 * A kernel that does not know the option returns EINVAL, and one that does
 * returns it for bad arguments. Seccomp filters return EPERM or ENOSYS, or any
 * other error. The query tells these cases apart.
 */
static int forgive_if_absent(long ret)
{
	if (ret < 0 && !sfjit_available(SFJIT_QUERY_KERNEL))
		return 0;
	return ret;
}

/*
 * Checked here as well as in the kernel, so that a mistake shows on every
 * kernel.
 */
static bool is_plausible(const void *section, size_t length,
			 const void *text, size_t text_length)
{
	/* There is a header to read. */
	if (!section || length < sizeof(struct sframe_header))
		return false;
	/* Either both of the explicit range or none. */
	if (!text != !text_length)
		return false;
	return !sfjit_wraps(section, length) && !sfjit_wraps(text, text_length);
}

/*
 * Plain version 3 is the part without addends: a kernel that reads the larger
 * format is told this one, whatever is in the section. Others return EINVAL
 * for it, as for any bad argument.
 */
static long register_opts(uintptr_t key, const void *section, size_t length,
			  struct sframe_window_opts *opts)
{
	long ret;

	opts->format = SFRAME_FORMAT_V3_ADDEND;
	ret = sframe_prctl(PR_SFRAME_REGISTER, key, (uintptr_t)section, length,
			   (uintptr_t)opts);
	if (ret != -EINVAL)
		return ret;
	opts->format = SFRAME_FORMAT_V3;
	return sframe_prctl(PR_SFRAME_REGISTER, key, (uintptr_t)section,
			    length, (uintptr_t)opts);
}

static int do_register(uintptr_t key, const void *section, size_t length,
		       const void *text, size_t text_length, uint32_t flags)
{
	struct sframe_window_opts opts = {
		.size = sizeof(opts),
		.flags = flags,
		.text_start = (uintptr_t)text,
		.text_length = text_length,
	};

	if (!is_plausible(section, length, text, text_length))
		return -EINVAL;
	return forgive_if_absent(register_opts(key, section, length, &opts));
}

int sfjit_register(uintptr_t key, const void *section, size_t length,
		   const void *text, size_t text_length)
{
	return do_register(key, section, length, text, text_length, 0);
}

int sfjit_replace(uintptr_t key, const void *section, size_t length,
		  const void *text, size_t text_length)
{
	return do_register(key, section, length, text, text_length,
			   SFRAME_WINDOW_REPLACE);
}

int sfjit_register_live(uintptr_t key, const void *section, size_t length,
			const void *text, size_t text_length, bool replace)
{
	uint32_t flags = SFRAME_WINDOW_LIVE;
	int ret;

	if (replace)
		flags |= SFRAME_WINDOW_REPLACE;
	ret = do_register(key, section, length, text, text_length, flags);
	/* A kernel that does not know the flag returns EINVAL, too. */
	if (ret == -EINVAL &&
	    !(sfjit_available(SFJIT_QUERY_FLAGS) & SFRAME_WINDOW_LIVE))
		return -EOPNOTSUPP;
	return ret;
}

int sfjit_unregister(uintptr_t key)
{
	return forgive_if_absent(sframe_prctl(PR_SFRAME_UNREGISTER, key,
					      0, 0, 0));
}
