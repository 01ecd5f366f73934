/* SPDX-License-Identifier: MIT */
/*
 * SPDX-FileCopyrightText: 2026 The sfjit authors
 *
 * A kernel for tests of the library: a replacement of libc's prctl(), and
 * faults.
 */
#ifndef LIB_PRCTL_H
#define LIB_PRCTL_H

#include <stdarg.h>

#include <sfjit/format.h>
#include <sfjit/packed.h>
#include <sfjit/sframe.h>

#include "test.h"

static bool present;		/* the kernel knows SFrame windows */
static int absent_error = EINVAL;
static int next_error;		/* of the next registration */
static unsigned int known_flags = SFRAME_WINDOW_REPLACE;
static unsigned int known_formats = 1 << SFRAME_FORMAT_V3 |
				    1 << SFRAME_FORMAT_PACKED;
static int nr_calls, nr_windows;
static void (*after_change)(void);	/* before prctl() returns */
static struct {
	int option;
	unsigned long key, address, length, last;
	struct sframe_window_opts opts;
	struct sframe_header header;
} call;

static int fail(int error)
{
	errno = error;
	return -1;
}

static int answer_query(unsigned long what)
{
	switch (what) {
	case PR_SFRAME_QUERY_FLAGS:
		return known_flags;
	case PR_SFRAME_QUERY_FORMATS:
		return known_formats;
	case PR_SFRAME_QUERY_LIMIT:
		return 65536;
	}
	return fail(EINVAL);
}

/* A packed table is none without its magic, and a section is none with it. */
static bool has_format(void)
{
	bool packed = call.header.magic == SFRAME_PACKED_MAGIC;

	return !call.address ||
	       packed == (call.opts.format == SFRAME_FORMAT_PACKED);
}

/* Copies the section as it is at the call. */
static int look_at_register(void)
{
	memcpy(&call.opts, (void *)call.last, sizeof(call.opts));
	if (call.address)
		memcpy(&call.header, (void *)call.address, sizeof(call.header));
	if (call.opts.flags & ~known_flags ||
	    !(known_formats >> call.opts.format & 1) || !has_format())
		return EINVAL;
	return 0;
}

/* A bad argument is bad in each format that the library tries. */
static int take_error(void)
{
	int error = next_error;

	if (error != EINVAL || call.option != PR_SFRAME_REGISTER ||
	    call.opts.format == SFRAME_FORMAT_V3)
		next_error = 0;
	return error;
}

static void run_after_change(void)
{
	void (*function)(void) = after_change;

	after_change = NULL;
	if (function)
		function();
}

static int answer_change(void)
{
	int error = 0;

	nr_calls++;
	if (call.option == PR_SFRAME_REGISTER)
		error = look_at_register();
	if (!error)
		error = take_error();
	if (error)
		return fail(error);
	if (call.option == PR_SFRAME_UNREGISTER)
		nr_windows--;
	else if (!(call.opts.flags & SFRAME_WINDOW_REPLACE))
		nr_windows++;
	run_after_change();
	return 0;
}

int prctl(int option, ...)
{
	va_list args;

	va_start(args, option);
	call.option = option;
	call.key = va_arg(args, unsigned long);
	call.address = va_arg(args, unsigned long);
	call.length = va_arg(args, unsigned long);
	call.last = va_arg(args, unsigned long);
	va_end(args);
	if (!present)
		return fail(absent_error);
	if (option == PR_SFRAME_QUERY)
		return answer_query(call.key);
	return answer_change();
}

static const char *fail_call;

int sfjit_fault(const char *name)
{
	return fail_call && !strcmp(fail_call, name) ? -ENOMEM : 0;
}

#endif /* LIB_PRCTL_H */
