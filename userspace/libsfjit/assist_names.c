// SPDX-License-Identifier: MIT
/*
 * SPDX-FileCopyrightText: 2026 The sfjit authors
 *
 * Add names from handlers, and write their lines to the perf map.
 *
 * One thread at a time is the writer. Other threads leave their names to it and
 * go on, since they may have interrupted it. The writer checks for new names
 * again after it has given up its role, so none is lost.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#include "assist.h"
#include "file.h"

/* Start and size in hexadecimal, each with a blank, the name, a newline. */
#define LINE_MAX_BYTES	(16 + 1 + 2 + 1 + SFJIT_ASSIST_NAME_BYTES + 1)

/*
 * @writer: the process of the writing thread, or 0. In a forked child it may be
 * the parent's
 * @pid: the process whose perf map was begun, for the @begun-th time
 * The other members belong to the writer.
 */
static struct {
	pid_t		writer;
	pid_t		pid;
	uint32_t	begun;
	int		fd;
	size_t		used;
	char		lines[16384];
} map;

/* ---- By the writer ------------------------------------------------------- */

/* If the write fails, the names are lost: no memory could hold them. */
static void flush(void)
{
	struct iovec part = { map.lines, map.used };

	if (map.used)
		sfjit_append(map.fd, &part, 1);
	map.used = 0;
}

static void put_line(uint32_t number, struct sfjit_assist_entry *entry)
{
	char *to;

	if (entry->begun == map.begun)
		return;
	entry->begun = map.begun;
	if (map.used + LINE_MAX_BYTES > sizeof(map.lines))
		flush();
	to = map.lines + map.used;
	to += sfjit_put_number(to, sfjit_assist_code(number), 16);
	*to++ = ' ';
	to += sfjit_put_number(to, SFJIT_ASSIST_NAME_CODE, 16);
	*to++ = ' ';
	to = mempcpy(to, sfjit_assist_text(entry), entry->length);
	*to++ = '\n';
	map.used = to - map.lines;
}

/* Write all known names, the new ones included. */
static int begin_map(pid_t pid)
{
	struct sfjit_assist_entry *entry;
	int ret = sfjit_drop_stale_lines(map.fd);
	uint32_t number;

	if (ret)
		return ret;
	map.begun++;
	sfjit_assist_take_new();
	for (number = 1; number <= sfjit_assist_last(); number++) {
		entry = sfjit_assist_entry(number);
		if (entry)
			put_line(number, entry);
	}
	__atomic_store_n(&map.pid, pid, __ATOMIC_RELEASE);
	return 0;
}

static void put_new(void)
{
	uint32_t number = sfjit_assist_take_new();
	struct sfjit_assist_entry *entry;

	while (number) {
		entry = sfjit_assist_entry(number);
		put_line(number, entry);
		number = entry->next;
	}
}

/* If the file cannot be opened, the next name tries again. */
static int write_all(pid_t pid)
{
	struct stat st;
	int ret = 0;

	map.fd = sfjit_open_lines("perf", "map", pid,
				  O_WRONLY | O_APPEND | O_CREAT, &st);
	if (map.fd < 0)
		return map.fd;
	map.used = 0;
	if (map.pid != pid)
		ret = begin_map(pid);
	if (!ret)
		put_new();
	flush();
	close(map.fd);
	return ret;
}

/* ---- By all -------------------------------------------------------------- */

static bool has_begun(pid_t pid)
{
	return __atomic_load_n(&map.pid, __ATOMIC_ACQUIRE) == pid;
}

static bool is_behind(pid_t pid)
{
	return has_begun(pid) ? sfjit_assist_has_new() : sfjit_assist_last();
}

static bool become_writer(pid_t pid)
{
	pid_t writer = __atomic_load_n(&map.writer, __ATOMIC_SEQ_CST);

	return writer != pid &&
	       __atomic_compare_exchange_n(&map.writer, &writer, pid, false,
					   __ATOMIC_SEQ_CST, __ATOMIC_RELAXED);
}

static int write_names(pid_t pid)
{
	struct sfjit_quiet quiet;
	int ret = 0;

	sfjit_be_quiet(&quiet);
	while (!ret && is_behind(pid) && become_writer(pid)) {
		ret = write_all(pid);
		__atomic_store_n(&map.writer, 0, __ATOMIC_SEQ_CST);
	}
	sfjit_end_quiet(&quiet);
	return ret;
}

int sfjit_assist_write_inherited(void)
{
	pid_t pid;

	if (!sfjit_assist_last())
		return 0;
	pid = getpid();
	return has_begun(pid) ? 0 : write_names(pid);
}

static uint64_t address_of(uint32_t number)
{
	/*
	 * Unwinders look up a return address minus 1, so point into the middle.
	 */
	return number ? sfjit_assist_code(number) +
			SFJIT_ASSIST_NAME_CODE / 2 : 0;
}

static uint32_t share(void)
{
	static const char text[] = "[no space for more names]";
	uint32_t number = sfjit_assist_find(sfjit_assist_shared);

	if (!number)
		number = sfjit_assist_add(sfjit_assist_shared, text,
					  sizeof(text) - 1);
	return number;
}

static uint32_t add_own(const uint64_t id[2],
			int (*name)(char *text, size_t size, void *data),
			void *data)
{
	char text[SFJIT_ASSIST_NAME_BYTES + 1];
	int length;

	length = name(text, SFJIT_ASSIST_NAME_BYTES, data);
	if (length <= 0 || length > SFJIT_ASSIST_NAME_BYTES)
		return 0;
	text[length] = '\0';
	length = sfjit_clean_name(text, text);
	return length ? sfjit_assist_add(id, text, length) : 0;
}

static uint32_t add_name(const uint64_t id[2],
			 int (*name)(char *text, size_t size, void *data),
			 void *data)
{
	uint32_t number = sfjit_assist_is_full() ? share() :
			  add_own(id, name, data);

	if (number)
		write_names(getpid());
	return number;
}

uint64_t sfjit_assist_name(uint64_t id0, uint64_t id1,
			   int (*name)(char *text, size_t size, void *data),
			   void *data)
{
	const uint64_t id[2] = { id0, id1 };
	uint32_t number = sfjit_assist_find(id);

	return address_of(number ? number : add_name(id, name, data));
}
