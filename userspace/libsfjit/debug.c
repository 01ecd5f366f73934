// SPDX-License-Identifier: MIT
/*
 * SPDX-FileCopyrightText: 2026 The sfjit authors
 *
 * SFJIT_DEBUG: check each registration as a patched kernel would, on any
 * kernel, and print problems to stderr. If the kernel has windows, it decides
 * what a call returns; otherwise this file decides.
 *
 * Nothing here allocates, as new memory could end up where a window was.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/uio.h>
#include <unistd.h>

#include "debug.h"

/* Windows beyond these are not followed, with a message; other checks go on. */
#define MAX_WINDOWS	4096

/* Remember a section by the checksum of at most this many bytes. */
#define MAX_SUMMED	65536

struct window {
	uintptr_t	key;
	uintptr_t	text, end;
	const void	*section;
	size_t		length;
	uint64_t	sum;
	bool		live;
};

/* For report(): the checks are at fault, not the program. */
#define NOT_WRONG	1

static struct window windows[MAX_WINDOWS];
static size_t nr_windows;
static bool overflow;		/* some windows are not listed */
static bool aborts;

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct sfjit_quiet saved;	/* of the lock's holder */

/* Like sfjit_lock(), which the caller may already hold. */
static void take_lock(void)
{
	struct sfjit_quiet quiet;

	sfjit_be_quiet(&quiet);
	pthread_mutex_lock(&lock);
	saved = quiet;
}

static void release_lock(void)
{
	struct sfjit_quiet quiet = saved;

	pthread_mutex_unlock(&lock);
	sfjit_end_quiet(&quiet);
}

__attribute__((format(printf, 2, 3)))
static int report(int error, const char *format, ...)
{
	char text[512] = "libsfjit: ";
	size_t length = strlen(text);
	va_list args;

	va_start(args, format);
	vsnprintf(text + length, sizeof(text) - length - 1, format, args);
	va_end(args);
	length = strlen(text);
	text[length++] = '\n';
	/* A failed write is ignored. */
	length = write(STDERR_FILENO, text, length);
	if (aborts && error != NOT_WRONG)
		abort();
	return error;
}

/* ---- Memory ----------------------------------------------------------- */

/* Read /proc/self/maps without a buffer that stdio would allocate. */
struct maps {
	int	fd;
	size_t	at, have;
	char	buffer[1024];
};

static int next_byte(struct maps *maps)
{
	ssize_t got;

	if (maps->at == maps->have) {
		got = read(maps->fd, maps->buffer, sizeof(maps->buffer));
		if (got <= 0)
			return -1;
		maps->at = 0;
		maps->have = got;
	}
	return (unsigned char)maps->buffer[maps->at++];
}

/* Parses the beginning of a line, START-END rwxp, and skips the rest. */
static bool next_map(struct maps *maps, uintptr_t *start, uintptr_t *end,
		     char *perms)
{
	unsigned long from, to;
	char head[64];
	size_t nr = 0;
	int byte;

	while ((byte = next_byte(maps)) >= 0 && byte != '\n')
		if (nr < sizeof(head) - 1)
			head[nr++] = byte;
	head[nr] = '\0';
	if (sscanf(head, "%lx-%lx %4s", &from, &to, perms) != 3)
		return false;
	*start = from;
	*end = to;
	return true;
}

enum mapped { NOT_MAPPED, FORBIDDEN, PERMITTED, UNKNOWN };

/* Whether all of a range has a permission, 'r' or 'x'. */
static enum mapped how_mapped(uintptr_t first, uintptr_t last, char what)
{
	struct maps maps = { .fd = open("/proc/self/maps",
					O_RDONLY | O_CLOEXEC) };
	enum mapped result = PERMITTED;
	uintptr_t start, end;
	char perms[5];

	if (maps.fd < 0)
		return UNKNOWN;
	while (first < last && next_map(&maps, &start, &end, perms)) {
		if (end <= first)
			continue;
		if (start > first)
			break;
		if (!strchr(perms, what))
			result = FORBIDDEN;
		first = end;
	}
	close(maps.fd);
	return first < last ? NOT_MAPPED : result;
}

/* process_vm_readv(): another thread may unmap the section meanwhile. */
static bool sum_of(const void *section, size_t length, uint64_t *sum)
{
	unsigned char bytes[4096];
	struct iovec to = { bytes, 0 }, from = { (void *)section, 0 };
	size_t done = 0, i;
	ssize_t got;

	*sum = 14695981039346656037u;
	if (length > MAX_SUMMED)
		length = MAX_SUMMED;
	while (done < length) {
		to.iov_len = length - done < sizeof(bytes) ? length - done :
							     sizeof(bytes);
		from.iov_base = (char *)section + done;
		from.iov_len = to.iov_len;
		got = process_vm_readv(getpid(), &to, 1, &from, 1, 0);
		if (got != (ssize_t)to.iov_len) {
			/*
			 * A short read: the next page is not mapped. EPERM or
			 * ENOSYS: a filter, and the sum stays unknown.
			 */
			*sum = 0;
			return got < 0 && errno != EFAULT;
		}
		for (i = 0; i < to.iov_len; i++)
			*sum = (*sum ^ bytes[i]) * 1099511628211u;
		done += to.iov_len;
	}
	return true;
}

/* ---- Windows ---------------------------------------------------------- */

static struct window *find_key(uintptr_t key)
{
	size_t i;

	for (i = 0; i < nr_windows; i++)
		if (windows[i].key == key)
			return &windows[i];
	return NULL;
}

static void remove_window(struct window *window)
{
	*window = windows[--nr_windows];
}

/* The kernel removes a window when any of its code is unmapped. */
static bool was_unmapped(struct window *window)
{
	if (how_mapped(window->text, window->end, 'x') != NOT_MAPPED)
		return false;
	report(0, "code %#lx-%#lx was unmapped before its window was "
	       "unregistered", window->text, window->end);
	remove_window(window);
	return true;
}

/* Finds an overlapping window with a key other than @but. */
static struct window *find_overlap(const struct window *new, uintptr_t but)
{
	size_t i;

	for (i = 0; i < nr_windows;) {
		if (windows[i].key == but || windows[i].text >= new->end ||
		    new->text >= windows[i].end)
			i++;
		else if (!was_unmapped(&windows[i]))
			return &windows[i];
	}
	return NULL;
}

static void check_unchanged(const struct window *window)
{
	uint64_t sum;

	if (window->live || !window->sum)
		return;
	if (!sum_of(window->section, window->length, &sum))
		report(0, "table %p of the window of %#lx is no longer "
		       "mapped", window->section, window->text);
	else if (sum && sum != window->sum)
		report(0, "table %p of the window of %#lx was changed while "
		       "it was registered", window->section, window->text);
}

/* ---- What the calls are to return ------------------------------------- */

static int check_text(const struct window *window)
{
	if (how_mapped(window->text, window->end, 'x') == NOT_MAPPED)
		return report(-EINVAL, "text %#lx-%#lx is not completely "
			      "mapped", window->text, window->end);
	return 0;
}

static int check_windows(const struct window *new, bool replace)
{
	struct window *old = find_key(new->key), *other;

	if (old && was_unmapped(old))
		old = NULL;
	if (replace && !old)
		return overflow ? 0 : report(-ENOENT, "no window %#lx to "
					     "replace", new->key);
	if (!replace && old)
		return report(-EBUSY, "key %#lx is in use, for %#lx-%#lx",
			      new->key, old->text, old->end);
	if (replace && (new->text > old->text || new->end < old->end))
		return report(-EINVAL, "text %#lx-%#lx does not contain the "
			      "text of the window, %#lx-%#lx", new->text,
			      new->end, old->text, old->end);
	other = find_overlap(new, new->key);
	if (other)
		return report(-EEXIST, "text %#lx-%#lx overlaps the window "
			      "%#lx-%#lx", new->text, new->end, other->text,
			      other->end);
	return 0;
}

/*
 * Beyond MAX_SUMMED only look at the mappings: a table can have 4 GiB.
 */
static bool is_readable(const struct sfjit_table *table, uint64_t *sum)
{
	uintptr_t start = (uintptr_t)table->section;

	if (!sum_of(table->section, table->length, sum))
		return false;
	if (table->length <= MAX_SUMMED)
		return true;
	switch (how_mapped(start, start + table->length, 'r')) {
	case NOT_MAPPED:
	case FORBIDDEN:
		return false;
	default:
		return true;
	}
}

/*
 * Like the kernel, register a section whose rows are damaged: only walks end.
 */
static int check_section(const struct sfjit_table *table,
			 struct window *window)
{
	struct sfjit_complaint why;
	uint64_t sum;

	if (!is_readable(table, &sum))
		return report(-EFAULT, "table %p is not readable",
			      table->section);
	window->sum = sum;
	switch (sfjit_check(table, &why)) {
	case -EINVAL:
		return report(-EINVAL, "table %p: %s", table->section,
			      why.reason);
	case -EBADMSG:
		report(0, "table %p: walks end at %p: %s", table->section,
		       why.address, why.reason);
	}
	sfjit_table_text(table, &window->text, &window->end);
	return 0;
}

static int check_all(const struct sfjit_table *table, struct window *new,
		     bool replace)
{
	int ret = check_section(table, new);

	if (!ret)
		ret = check_text(new);
	return ret ? ret : check_windows(new, replace);
}

static void record_window(const struct window *new, bool replace)
{
	struct window *old = replace ? find_key(new->key) : NULL;

	if (old) {
		check_unchanged(old);
		*old = *new;
	} else if (nr_windows < MAX_WINDOWS) {
		windows[nr_windows++] = *new;
	} else if (!overflow) {
		overflow = true;
		report(NOT_WRONG, "more than %d windows: later ones are not "
		       "compared with each other", MAX_WINDOWS);
	}
}

static int debug_register(uintptr_t key, const struct sfjit_table *table,
			  bool replace, int (*try)(void *), void *arg)
{
	struct window new = {
		.key = key,
		.text = (uintptr_t)table->text,
		.end = (uintptr_t)table->text + table->text_length,
		.section = table->section,
		.length = table->length,
		.live = table->flags & SFJIT_TABLE_LIVE,
	};
	int ret, error;

	take_lock();
	error = check_all(table, &new, replace);
	ret = try(arg);
	if (ret < 0 && ret != error)
		report(0, "the kernel refuses to register %p: %s",
		       table->section, strerror(-ret));
	if (ret > 0)
		ret = error;	/* there is no kernel to decide */
	if (!ret)
		record_window(&new, replace);
	release_lock();
	return ret;
}

static int debug_unregister(uintptr_t key, int (*try)(void *), void *arg)
{
	struct window *window;
	int ret, error = 0;

	take_lock();
	window = find_key(key);
	if (window && was_unmapped(window)) {
		error = -ENOENT;
	} else if (window) {
		check_unchanged(window);
		remove_window(window);
	} else if (!overflow) {
		error = report(-ENOENT, "no window %#lx to unregister", key);
	}
	ret = try(arg);
	release_lock();
	return ret > 0 ? error : ret;
}

/* ---- Start ------------------------------------------------------------ */

static const struct sfjit_debug debug = {
	.do_register = debug_register,
	.do_unregister = debug_unregister,
};

void sfjit_debug_start(bool abort_too)
{
	aborts = abort_too;
	sfjit_set_inner_lock(take_lock, release_lock);
	sfjit_debug = &debug;
}

__attribute__((constructor))
static void start(void)
{
	const char *value = secure_getenv("SFJIT_DEBUG");

	if (value && *value && strcmp(value, "0"))
		sfjit_debug_start(!strcmp(value, "abort"));
}
