// SPDX-License-Identifier: MIT
/*
 * SPDX-FileCopyrightText: 2026 The sfjit authors
 *
 * Names with the time from which they are valid.
 */
#include <errno.h>
#include <limits.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "file.h"
#include "internal.h"
#include "jitdump.h"

#define TIMED	(SFJIT_NAMES_LOG | SFJIT_NAMES_JITDUMP)
#define ALL	(SFJIT_NAMES_MAP | TIMED)

/* Read without the lock: a program that is not profiled pays one load. */
static unsigned int in_use;

static struct sfjit_file names_log = { .prefix = "sfjit", .suffix = "names" };

/* The clock of `perf record -k mono'. */
static uint64_t now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec * 1000000000ULL + t.tv_nsec;
}

static int log_load(const struct sfjit_function *function, const char *name)
{
	char line[128 + SFJIT_NAME_BYTES];
	size_t used;

	used = sprintf(line, "load %llu %llx %x ", (unsigned long long)now(),
		       (unsigned long long)function->addr, function->size);
	used += sfjit_clean_name(line + used, name);
	line[used++] = '\n';
	return sfjit_write_line(&names_log, line, used);
}

static int log_drop(const void *start, size_t length)
{
	char line[128];
	int used;

	used = sprintf(line, "drop %llu %lx %zx\n", (unsigned long long)now(),
		       (unsigned long)start, length);
	return sfjit_write_line(&names_log, line, used);
}

static int first_error(int first, int ret)
{
	return first ? first : ret;
}

static int load_names(const struct sfjit_function *function, size_t room,
		      const char *name)
{
	unsigned int what = in_use;
	int ret = 0;

	if (what & SFJIT_NAMES_MAP)
		ret = sfjit_write_name((void *)(uintptr_t)function->addr,
				       function->size, name);
	if (what & SFJIT_NAMES_LOG)
		ret = first_error(ret, log_load(function, name));
	if (what & SFJIT_NAMES_JITDUMP)
		ret = first_error(ret, sfjit_jitdump_load(function, room, name,
							  now()));
	return ret;
}

/* Errors are ignored: trampolines are in the perf map anyway. */
void sfjit_name_trampoline(const struct sfjit_function *function,
			   const char *name)
{
	sfjit_write_name((void *)(uintptr_t)function->addr, function->size,
			 name);
	if (in_use & SFJIT_NAMES_LOG)
		log_load(function, name);
	if (in_use & SFJIT_NAMES_JITDUMP)
		sfjit_jitdump_load(function, 0, name, now());
}

int sfjit_drop_names(const void *start, size_t length)
{
	int ret = 0;

	if (in_use & SFJIT_NAMES_LOG)
		ret = log_drop(start, length);
	if (in_use & SFJIT_NAMES_JITDUMP)
		ret = first_error(ret, sfjit_jitdump_drop(start, length,
							  now()));
	return ret;
}

static bool is_code(const void *start, size_t length)
{
	return length && !sfjit_wraps(start, length);
}

int sfjit_names_open(unsigned int what, const char *dir)
{
	int ret;

	if (!what || what & ~ALL)
		return -EINVAL;
	ret = sfjit_lock_for_new();
	if (ret)
		return ret;
	if (what & SFJIT_NAMES_JITDUMP)
		ret = sfjit_jitdump_open(dir, now());
	if (!ret)
		__atomic_fetch_or(&in_use, what, __ATOMIC_RELEASE);
	sfjit_unlock();
	return ret;
}

int sfjit_names_close(void)
{
	int ret = 0;

	sfjit_lock();
	if (in_use & SFJIT_NAMES_JITDUMP)
		ret = sfjit_jitdump_close(now());
	__atomic_store_n(&in_use, 0, __ATOMIC_RELEASE);
	sfjit_unlock();
	return ret;
}

int sfjit_names_load(const struct sfjit_function *function, size_t room,
		     const char *name)
{
	int ret;

	if (!__atomic_load_n(&in_use, __ATOMIC_ACQUIRE))
		return 0;
	if (!name || !*name)
		return -EINVAL;
	ret = sfjit_check_named(function);
	if (ret)
		return ret;
	sfjit_lock();
	ret = load_names(function, room, name);
	sfjit_unlock();
	return ret;
}

int sfjit_names_drop(const void *start, size_t length)
{
	int ret;

	if (!(__atomic_load_n(&in_use, __ATOMIC_ACQUIRE) & TIMED))
		return 0;
	if (!is_code(start, length))
		return -EINVAL;
	sfjit_lock();
	ret = sfjit_drop_names(start, length);
	sfjit_unlock();
	return ret;
}

long sfjit_names_room(const struct sfjit_function *function)
{
	int ret = sfjit_check_named(function);

	return ret ? ret : sfjit_jitdump_room(function);
}
