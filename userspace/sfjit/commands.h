/* SPDX-License-Identifier: MIT */
/*
 * SPDX-FileCopyrightText: 2026 The sfjit authors
 *
 * Commands of sfjit. Each gets its own argv, with its name in argv[0], and
 * returns the exit status.
 */
#ifndef SFJIT_RUN_COMMANDS_H
#define SFJIT_RUN_COMMANDS_H

#include <errno.h>
#include <stdio.h>
#include <string.h>

/*
 * Exit statuses of a program that runs another one, as of env, nohup and
 * timeout: all others are those of the command.
 */
#define EXIT_OURS		125	/* sfjit itself failed */
#define EXIT_CANNOT_RUN		126
#define EXIT_NOT_FOUND		127

/* After the last line of standard output: 0, or EXIT_OURS, with a message. */
static inline int finish_output(void)
{
	if (!fflush(stdout) && !ferror(stdout))
		return 0;
	fprintf(stderr, "sfjit: output: %s\n", strerror(errno));
	return EXIT_OURS;
}

static inline int print_help(const char *usage)
{
	fputs(usage, stdout);
	return finish_output();
}

int command_run(int argc, char **argv);
int command_ps(int argc, char **argv);
int command_doctor(int argc, char **argv);
int command_cache(int argc, char **argv);
/* Where arch/NAME/registers.h is. */
__attribute__((weak)) int command_attach(int argc, char **argv);
__attribute__((weak)) int command_detach(int argc, char **argv);
/* Not in programs for other machines than the one they are built on. */
__attribute__((weak)) int command_daemon(int argc, char **argv);
__attribute__((weak)) int command_explain(int argc, char **argv);
__attribute__((weak)) int command_inject(int argc, char **argv);
__attribute__((weak)) int command_record(int argc, char **argv);

#endif /* SFJIT_RUN_COMMANDS_H */
