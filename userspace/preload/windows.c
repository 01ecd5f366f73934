// SPDX-License-Identifier: MIT
// SPDX-FileCopyrightText: 2026 The sfjit authors
#include <errno.h>

#include <sfjit/sframe.h>

#include "../libsfjit/node.h"
#include "sys.h"
#include "windows.h"

/*
 * EINVAL: prctl() does not know the option, or the arguments are wrong. Other
 * errors come from filters, which may kill for opening the node.
 */
static long call_kernel(int option, unsigned long arg2, unsigned long arg3,
			unsigned long arg4, unsigned long arg5)
{
	int ret = __wrap_prctl(option, arg2, arg3, arg4, arg5);

	if (ret >= 0)
		return ret;
	return errno == EINVAL ?
	       sfjit_node_call(option, arg2, arg3, arg4, arg5) : -errno;
}

enum windows_kernel windows_kernel(void)
{
	long formats = call_kernel(PR_SFRAME_QUERY, PR_SFRAME_QUERY_FORMATS, 0,
				   0, 0);

	if (formats < 0)
		return WINDOWS_ABSENT;
	return formats >> SFRAME_FORMAT_PACKED & 1 ? WINDOWS_KNOWN :
						     WINDOWS_OLD;
}

/*
 * EINVAL alone does not tell: it also means bad arguments. Seccomp filters
 * return any error. A process that loses the node keeps its windows.
 */
static int ret_or_absent(long ret)
{
	enum windows_kernel kernel;

	if (ret >= 0)
		return ret;
	kernel = windows_kernel();
	if (kernel == WINDOWS_OLD ||
	    (kernel == WINDOWS_ABSENT && !sfjit_node_used()))
		return 0;
	return ret;
}

static int register_entry(const struct windows_entry *entry, uint32_t flags)
{
	const struct sframe_window_opts opts = {
		.size = sizeof(opts),
		.flags = flags,
		.text_start = entry->start,
		.text_length = entry->end - entry->start,
		.format = SFRAME_FORMAT_PACKED,
		.text_bias = entry->bias,
	};

	return ret_or_absent(call_kernel(PR_SFRAME_REGISTER, entry->key,
					 (uintptr_t)entry->table, entry->length,
					 (uintptr_t)&opts));
}

int windows_register(const struct windows_entry *entry)
{
	return register_entry(entry, 0);
}

int windows_replace(const struct windows_entry *entry)
{
	return register_entry(entry, SFRAME_WINDOW_REPLACE);
}

int windows_unregister(uintptr_t key)
{
	return ret_or_absent(call_kernel(PR_SFRAME_UNREGISTER, key, 0, 0, 0));
}
