// SPDX-License-Identifier: MIT
// SPDX-FileCopyrightText: 2026 The sfjit authors
/*
 * Description: a signal that ends sframegen while it writes leaves the file as
 * it was or complete, and no temporary file.
 */
#define _GNU_SOURCE
#include <fcntl.h>
#include <signal.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "test.h"

static char dir[] = "/tmp/sframegen-output.XXXXXX";
static char output[64];

static int signal_to_send, failing_mode;

/* In place of the C library's: the temporary file is there and not empty. */
int fchmod(int fd, mode_t mode)
{
	kill(getpid(), signal_to_send);
	if (failing_mode) {
		errno = EPERM;
		return -1;
	}
	return syscall(SYS_fchmod, fd, mode);
}

static void save(const char *text)
{
	FILE *f = fopen(output, "w");

	fputs(text, f);
	fclose(f);
}

static bool holds(const char *want)
{
	char text[16] = "";
	FILE *f = fopen(output, "r");

	if (f) {
		text[fread(text, 1, sizeof(text) - 1, f)] = 0;
		fclose(f);
	}
	return !strcmp(text, want);
}

static void write_in_child(int signal_number, bool failing)
{
	signal_to_send = signal_number;
	failing_mode = failing;
	write_file(output, "new", 3);
	_exit(0);
}

static void test(const char *name, int signal_number, bool failing,
		 const char *want)
{
	pid_t child;
	int status;

	save("old");
	fflush(stdout);
	child = fork();
	if (!child)
		write_in_child(signal_number, failing);
	waitpid(child, &status, 0);
	result(WIFSIGNALED(status) && WTERMSIG(status) == signal_number &&
	       files_in(dir) == 1 && holds(want), name,
	       "status %d, %u files", status, files_in(dir));
}

int main(void)
{
	if (!mkdtemp(dir))
		return 1;
	snprintf(output, sizeof(output), "%s/output", dir);
	test("SIGINT while the file is written", SIGINT, false, "new");
	test("SIGTERM while the file is written", SIGTERM, false, "new");
	test("SIGHUP while the file is written", SIGHUP, false, "new");
	test("SIGTERM before writing fails", SIGTERM, true, "old");
	unlink(output);
	rmdir(dir);
	return finish();
}
