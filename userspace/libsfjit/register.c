// SPDX-License-Identifier: MIT
/*
 * SPDX-FileCopyrightText: 2026 The sfjit authors
 *
 * Register windows with the kernel: the only file that calls prctl() for them.
 */
#include <errno.h>
#include <stdbool.h>
#include <sys/prctl.h>

#include <sfjit/format.h>
#include <sfjit/sframe.h>

#include "debug.h"
#include "node.h"
#include "text_table.h"

const struct sfjit_debug *sfjit_debug;

int (*sfjit_prctl)(int option, ...) = prctl;

static long call_prctl(int option, unsigned long arg2, unsigned long arg3,
		       unsigned long arg4, unsigned long arg5)
{
	int ret = __atomic_load_n(&sfjit_prctl, __ATOMIC_RELAXED)
		(option, arg2, arg3, arg4, arg5);

	return ret < 0 ? -errno : ret;
}

static bool prctl_has_windows(void)
{
	return call_prctl(PR_SFRAME_QUERY, PR_SFRAME_QUERY_FLAGS, 0, 0, 0) >= 0;
}

static long sframe_prctl(int option, unsigned long arg2, unsigned long arg3,
			 unsigned long arg4, unsigned long arg5)
{
	long ret = sfjit_fault("prctl");

	if (!ret)
		ret = call_prctl(option, arg2, arg3, arg4, arg5);
	/*
	 * EINVAL: prctl() does not know the option, or the arguments are wrong. Other
	 * errors come from filters, which may kill for opening the node.
	 */
	if (ret != -EINVAL ||
	    (option != PR_SFRAME_QUERY && prctl_has_windows()))
		return ret;
	return sfjit_node_call(option, arg2, arg3, arg4, arg5);
}

static long query(unsigned long what)
{
	return sframe_prctl(PR_SFRAME_QUERY, what, 0, 0, 0);
}

static long value_or_zero(long answer)
{
	return answer < 0 ? 0 : answer;
}

long sfjit_available(unsigned int question)
{
	switch (question) {
	case SFJIT_QUERY_KERNEL:
		return query(PR_SFRAME_QUERY_FLAGS) >= 0;
	case SFJIT_QUERY_FLAGS:
		return value_or_zero(query(PR_SFRAME_QUERY_FLAGS));
	case SFJIT_QUERY_FORMATS:
		return value_or_zero(query(PR_SFRAME_QUERY_FORMATS));
	case SFJIT_QUERY_LIMIT:
		return value_or_zero(query(PR_SFRAME_QUERY_LIMIT));
	}
	return -EINVAL;
}

/*
 * Returns 1 on a kernel without windows. EINVAL alone does not tell: it also
 * means bad arguments. Seccomp filters return EPERM, ENOSYS or any other error.
 * A process that loses the node keeps its windows.
 */
static int ret_or_absent(long ret)
{
	if (ret < 0 && !sfjit_node_used() &&
	    !sfjit_available(SFJIT_QUERY_KERNEL))
		return 1;
	return ret;
}

static int absent_is_success(int ret)
{
	return ret > 0 ? 0 : ret;
}

/*
 * Also checked by the kernel. Checked here so that mistakes show on every
 * kernel.
 */
static bool is_plausible(const void *section, size_t length,
			 const void *text, size_t text_length)
{
	if (!section || length < sizeof(struct sframe_header))
		return false;
	/* The explicit range is given completely or not at all. */
	if (!text != !text_length)
		return false;
	return !sfjit_wraps(section, length) && !sfjit_wraps(text, text_length);
}

/*
 * A packed table is no section, nor the reverse, so that the kernel tells them
 * apart. The library does not: a mapped file can be truncated, and reading it
 * raises SIGBUS.
 */
static long register_opts(uintptr_t key, const void *section, size_t length,
			  struct sframe_window_opts *opts)
{
	long ret;

	opts->format = SFRAME_FORMAT_PACKED;
	ret = sframe_prctl(PR_SFRAME_REGISTER, key, (uintptr_t)section, length,
			   (uintptr_t)opts);
	if (ret != -EINVAL)
		return ret;
	opts->format = SFRAME_FORMAT_V3;
	return sframe_prctl(PR_SFRAME_REGISTER, key, (uintptr_t)section,
			    length, (uintptr_t)opts);
}

struct request {
	uintptr_t			key;
	const struct sfjit_table	*table;
	struct sframe_window_opts	opts;
};

static int try_register(void *arg)
{
	struct request *request = arg;

	return ret_or_absent(register_opts(request->key,
					   request->table->section,
					   request->table->length,
					   &request->opts));
}

/* EINVAL also means that the kernel does not know packed tables. */
static bool may_be_packed(void)
{
	return !sfjit_available(SFJIT_QUERY_KERNEL) ||
	       sfjit_available(SFJIT_QUERY_FORMATS) >> SFRAME_FORMAT_PACKED & 1;
}

static int do_register(uintptr_t key, const struct sfjit_table *table,
		       uint32_t flags)
{
	struct request request = {
		.key = key,
		.table = table,
		.opts = {
			.size = sizeof(request.opts),
			.flags = flags,
			.text_start = (uintptr_t)table->text,
			.text_length = table->text_length,
			.text_bias = table->bias,
		},
	};

	if (!is_plausible(table->section, table->length, table->text,
			  table->text_length))
		return -EINVAL;
	if (sfjit_debug)
		return sfjit_debug->do_register(key, table,
						flags & SFRAME_WINDOW_REPLACE,
						try_register, &request);
	return absent_is_success(try_register(&request));
}

/* Registers a packed table. A kernel without that format refuses it by -EINVAL. */
static int register_packed(uintptr_t key, const struct sfjit_table *table,
			   uint32_t flags)
{
	int ret = do_register(key, table, flags);

	return ret == -EINVAL && !may_be_packed() ? -EOPNOTSUPP : ret;
}

int sfjit_register(uintptr_t key, const void *section, size_t length,
		   const void *text, size_t text_length)
{
	return sfjit_register_biased(key, section, length, text, text_length,
				     0);
}

int sfjit_register_biased(uintptr_t key, const void *section, size_t length,
			  const void *text, size_t text_length, uintptr_t bias)
{
	const struct sfjit_table table = {
		section, length, text, text_length, 0, bias,
	};

	return do_register(key, &table, 0);
}

int sfjit_replace(uintptr_t key, const void *section, size_t length,
		  const void *text, size_t text_length)
{
	const struct sfjit_table table = {
		section, length, text, text_length, 0, 0,
	};

	return do_register(key, &table, SFRAME_WINDOW_REPLACE);
}

int sfjit_register_growing(uintptr_t key, const void *table, size_t length,
			   const void *text, size_t text_length, bool replace)
{
	const struct sfjit_table growing = {
		table, length, text, text_length, SFJIT_TABLE_LIVE, 0,
	};

	return register_packed(key, &growing,
			       replace ? SFRAME_WINDOW_REPLACE : 0);
}

/* ---- Text without rows ------------------------------------------------- */

static bool is_plausible_text(const void *text, size_t text_length,
			      unsigned int what)
{
	if (what != SFJIT_TEXT_FP && what != SFJIT_TEXT_END)
		return false;
	/* The table is for any code. */
	return text && text_length && !sfjit_wraps(text, text_length);
}

static int register_text(uintptr_t key, const void *text, size_t text_length,
			 unsigned int what, uint32_t flags)
{
	struct sfjit_table table = {
		.length = sizeof(struct text_table),
		.text = text,
		.text_length = text_length,
		.bias = (uintptr_t)text,
	};

	if (!is_plausible_text(text, text_length, what))
		return -EINVAL;
	if (text_length > TEXT_TABLE_MAX)
		return -E2BIG;
	table.section = text_table_get(what);
	return register_packed(key, &table, flags);
}

int sfjit_register_text(uintptr_t key, const void *text, size_t text_length,
			unsigned int what)
{
	return register_text(key, text, text_length, what, 0);
}

int sfjit_replace_text(uintptr_t key, const void *text, size_t text_length,
		       unsigned int what)
{
	return register_text(key, text, text_length, what,
			     SFRAME_WINDOW_REPLACE);
}

/* ---- Unregistration ---------------------------------------------------- */

static int try_unregister(void *arg)
{
	uintptr_t *key = arg;

	return ret_or_absent(sframe_prctl(PR_SFRAME_UNREGISTER, *key, 0, 0, 0));
}

int sfjit_unregister(uintptr_t key)
{
	if (sfjit_debug)
		return sfjit_debug->do_unregister(key, try_unregister, &key);
	return absent_is_success(try_unregister(&key));
}
