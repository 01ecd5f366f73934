// SPDX-License-Identifier: MIT
// SPDX-FileCopyrightText: 2026 The sfjit authors
/* Lines for the user; their form is documented in sfjit.1. */
#include <limits.h>
#include <string.h>

#include "report.h"
#include "sys.h"

static bool to_stderr;
static char log_path[PATH_MAX];

void report_init(char **environment)
{
	const char *verbose = sys_variable(environment, "SFJIT_VERBOSE");
	const char *path = sys_variable(environment, "SFJIT_LOG");

	to_stderr = verbose[0] && strcmp(verbose, "0");
	if (path[0] == '/' && strlen(path) < sizeof(log_path))
		strcpy(log_path, path);
}

bool report_wanted(void)
{
	return to_stderr || log_path[0];
}

static void begin_line(struct text *t, const char *what)
{
	uint64_t now = sys_clock_ns();

	text_put(t, "sfjit: ");
	text_decimal(t, SYS(SYS_getpid), 0);
	text_put(t, " ");
	text_decimal(t, now / 1000000000, 0);
	text_put(t, ".");
	text_decimal(t, now % 1000000000, 9);
	text_put(t, what);
}

/* The file is opened for each line: no descriptor stays in the program. */
static void to_log(const struct text *t)
{
	int fd = sys_open(AT_FDCWD, log_path,
			  O_WRONLY | O_APPEND | O_CREAT | O_NONBLOCK, 0600);

	if (fd < 0)
		return;
	sys_write_all(fd, t->data, t->length);
	sys_close(fd);
}

static void end_line(struct text *t)
{
	text_end_line(t);
	if (log_path[0])
		to_log(t);
	else
		sys_write_all(STDERR_FILENO, t->data, t->length);
}

static void put_field(struct text *t, const char *name, uint64_t value)
{
	text_put(t, name);
	text_decimal(t, value, 0);
}

static void put_time(struct text *t, uint64_t ns)
{
	put_field(t, " ms=", ns / 1000000);
	text_put(t, ".");
	text_decimal(t, ns / 1000 % 1000, 3);
}

void report_registered(const char *name, const struct table *table,
		       unsigned int refused, int error, uint64_t ns)
{
	struct text t = { .length = 0 };

	if (!report_wanted())
		return;
	begin_line(&t, " registered ");
	text_put(&t, name);
	put_field(&t, " windows=", table->nr_windows);
	put_field(&t, " rows=", table->rows);
	put_field(&t, " bytes=", table->length);
	text_put(&t, table->from_cache ? " source=cache" :
					 " source=converted");
	put_time(&t, ns);
	if (refused) {
		put_field(&t, " refused=", refused);
		put_field(&t, " error=", -error);
	}
	end_line(&t);
}

void report_again(uintptr_t text)
{
	struct text t = { .length = 0 };

	if (!report_wanted())
		return;
	begin_line(&t, " again text:");
	text_hex(&t, text, 0);
	end_line(&t);
}

void report_skipped(const char *name, const char *reason, int error)
{
	struct text t = { .length = 0 };

	if (!report_wanted())
		return;
	begin_line(&t, " skipped ");
	text_put(&t, name);
	text_put(&t, ": ");
	text_put(&t, reason);
	put_field(&t, " (errno ", -error);
	text_put(&t, ")");
	end_line(&t);
}

void report_ready(unsigned int modules, enum windows_kernel kernel)
{
	static const char *const words[] = {
		[WINDOWS_ABSENT] = " kernel=no",
		[WINDOWS_OLD] = " kernel=old",
		[WINDOWS_KNOWN] = " kernel=yes",
	};
	struct text t = { .length = 0 };

	if (!report_wanted())
		return;
	begin_line(&t, " ready");
	put_field(&t, " modules=", modules);
	text_put(&t, words[kernel]);
	end_line(&t);
}

static void put_code_key(struct text *t, uintptr_t key)
{
	text_put(t, "jit:");
	text_hex(t, key, 0);
}

void report_code(uintptr_t key, bool gdb, const struct unit_result *result,
		 uint64_t ns)
{
	struct text t = { .length = 0 };

	if (!report_wanted())
		return;
	begin_line(&t, result->windows ? " registered " : " waits ");
	put_code_key(&t, key);
	put_field(&t, " windows=", result->windows);
	put_field(&t, " rows=", result->rows);
	put_field(&t, " bytes=", result->bytes);
	text_put(&t, gdb ? " source=gdb" : " source=frames");
	put_time(&t, ns);
	if (result->waits)
		text_put(&t, " waits=yes");
	if (result->refused)
		put_field(&t, " refused=", result->refused);
	end_line(&t);
}

void report_code_skipped(uintptr_t key, const char *reason, int error)
{
	struct text name = { .length = 0 };

	put_code_key(&name, key);
	report_skipped(name.data, reason, error);
}

static void say_code(const char *what, uintptr_t key)
{
	struct text t = { .length = 0 };

	if (!report_wanted())
		return;
	begin_line(&t, what);
	put_code_key(&t, key);
	end_line(&t);
}

void report_code_gone(uintptr_t key)
{
	say_code(" removed ", key);
}

void report_code_kept(uintptr_t key)
{
	say_code(" kept ", key);
}

void report_code_ends(uintptr_t key)
{
	say_code(" ends ", key);
}

void report_followed(const char *name, const char *function,
		     const char *reason, int error)
{
	struct text t = { .length = 0 };

	if (!report_wanted())
		return;
	if (!reason)
		begin_line(&t, " follows ");
	text_put(&t, name);
	text_put(&t, ":");
	text_put(&t, function);
	if (reason)
		report_skipped(t.data, reason, error);
	else
		end_line(&t);
}
