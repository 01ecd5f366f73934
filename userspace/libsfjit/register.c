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

const struct sfjit_debug *sfjit_debug;

int (*sfjit_prctl)(int option, ...) = prctl;

static long sframe_prctl(int option, unsigned long arg2, unsigned long arg3,
			 unsigned long arg4, unsigned long arg5)
{
	int ret = sfjit_fault("prctl");

	if (ret)
		return ret;
	ret = __atomic_load_n(&sfjit_prctl, __ATOMIC_RELAXED)
		(option, arg2, arg3, arg4, arg5);
	if (ret >= 0)
		return ret;
	/*
	 * EINVAL: prctl() does not know the option, or the arguments are wrong. Other
	 * errors come from filters, which may kill for opening the node.
	 */
	return errno == EINVAL ?
	       sfjit_node_call(option, arg2, arg3, arg4, arg5) : -errno;
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
 * Plain version 3 is the subset without addends. A kernel that knows the larger
 * format gets that one for every section; others return EINVAL for it, as for
 * any bad argument.
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

struct request {
	uintptr_t			key;
	struct sfjit_table		table;
	struct sframe_window_opts	opts;
};

static int try_register(void *arg)
{
	struct request *request = arg;

	return ret_or_absent(register_opts(request->key,
					   request->table.section,
					   request->table.length,
					   &request->opts));
}

static int do_register(uintptr_t key, const struct sfjit_table *table,
		       uint32_t flags)
{
	struct request request = {
		.key = key,
		.table = *table,
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
	if (table->flags & SFJIT_TABLE_LIVE)
		request.opts.flags |= SFRAME_WINDOW_LIVE;
	if (sfjit_debug)
		return sfjit_debug->do_register(key, &request.table,
						flags & SFRAME_WINDOW_REPLACE,
						try_register, &request);
	return absent_is_success(try_register(&request));
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

int sfjit_register_live(uintptr_t key, const void *section, size_t length,
			const void *text, size_t text_length, bool replace)
{
	const struct sfjit_table table = {
		section, length, text, text_length, SFJIT_TABLE_LIVE, 0,
	};
	int ret;

	ret = do_register(key, &table, replace ? SFRAME_WINDOW_REPLACE : 0);
	/* EINVAL also means that the kernel does not know the flag. */
	if (ret == -EINVAL && sfjit_available(SFJIT_QUERY_KERNEL) &&
	    !(sfjit_available(SFJIT_QUERY_FLAGS) & SFRAME_WINDOW_LIVE))
		return -EOPNOTSUPP;
	return ret;
}

/* ---- Text without a section ------------------------------------------- */

static int try_register_text(void *arg)
{
	struct request *request = arg;

	return ret_or_absent(sframe_prctl(PR_SFRAME_REGISTER, request->key, 0,
					  0, (uintptr_t)&request->opts));
}

static bool is_plausible_text(const void *text, size_t text_length,
			      unsigned int what)
{
	if (what != SFRAME_FORMAT_FP && what != SFRAME_FORMAT_END)
		return false;
	/* There is no section to take the range from. */
	return text && text_length && !sfjit_wraps(text, text_length);
}

static int do_register_text(struct request *request)
{
	bool replace = request->opts.flags & SFRAME_WINDOW_REPLACE;

	if (sfjit_debug)
		return sfjit_debug->do_register(request->key, &request->table,
						replace, try_register_text,
						request);
	return absent_is_success(try_register_text(request));
}

static int register_text(uintptr_t key, const void *text, size_t text_length,
			 unsigned int what, uint32_t flags)
{
	struct request request = {
		.key = key,
		.table = { .text = text, .text_length = text_length },
		.opts = {
			.size = sizeof(request.opts),
			.flags = flags,
			.text_start = (uintptr_t)text,
			.text_length = text_length,
			.format = what,
		},
	};
	int ret;

	if (!is_plausible_text(text, text_length, what))
		return -EINVAL;
	ret = do_register_text(&request);
	/* EINVAL also means that the kernel does not know the format. */
	if (ret == -EINVAL && sfjit_available(SFJIT_QUERY_KERNEL) &&
	    !(sfjit_available(SFJIT_QUERY_FORMATS) >> what & 1))
		return -EOPNOTSUPP;
	return ret;
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
