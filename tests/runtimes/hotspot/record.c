// SPDX-License-Identifier: MIT
/*
 * SPDX-FileCopyrightText: 2026 The sfjit authors
 *
 * Preloaded into a program on a kernel without windows: writes down what the
 * program registers, in memory that the judge shares.
 */
#include <errno.h>
#include <stdarg.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <sfjit/sframe.h>

#include "record.h"

static struct record *record;

__attribute__((constructor))
static void map_record(void)
{
	const char *fd = getenv("SFJIT_RECORD_FD");

	if (!fd)
		return;
	record = mmap(NULL, sizeof(*record), PROT_READ | PROT_WRITE, MAP_SHARED,
		      atoi(fd), 0);
	if (record == MAP_FAILED)
		record = NULL;
}

static struct record_window *find(uint64_t key)
{
	uint32_t i;

	for (i = 0; i < record->nr; i++)
		if (record->windows[i].key == key)
			return record->windows + i;
	return NULL;
}

static int add(uint64_t key, uint64_t section, uint64_t length,
	       const struct sframe_window_opts *opts)
{
	struct record_window *window = find(key);

	if (!window && record->nr < RECORD_MAX)
		window = record->windows + record->nr++;
	if (!window)
		return -ENOSPC;
	*window = (struct record_window){
		key, section, length, opts->text_start, opts->text_length };
	__atomic_add_fetch(&record->changes, 1, __ATOMIC_SEQ_CST);
	return 0;
}

int prctl(int option, ...)
{
	unsigned long a[4];
	struct record_window *window;
	va_list args;
	int i;

	va_start(args, option);
	for (i = 0; i < 4; i++)
		a[i] = va_arg(args, unsigned long);
	va_end(args);
	if (record && option == PR_SFRAME_REGISTER)
		return add(a[0], a[1], a[2], (void *)a[3]);
	if (record && option == PR_SFRAME_UNREGISTER) {
		window = find(a[0]);
		if (window)
			window->length = window->text_length = 0;
		return 0;
	}
	if (record && option == PR_SFRAME_QUERY)
		return a[0] == PR_SFRAME_QUERY_LIMIT ? RECORD_MAX : 1;
	return syscall(SYS_prctl, option, a[0], a[1], a[2], a[3]);
}
