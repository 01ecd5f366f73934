// SPDX-License-Identifier: MIT
// SPDX-FileCopyrightText: 2026 The sfjit authors
/* sfjit daemon: options, and what it needs of the kernel. */
#include <ctype.h>
#include <errno.h>
#include <getopt.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/signalfd.h>

#include "commands.h"
#include "loop.h"
#include "service.h"

#define STORE	"tables"	/* the descriptor's name for systemd */

static const char usage[] =
"Usage: sfjit daemon [OPTION]...\n"
"\n"
"Gives the kernel a table for each program and library that any process maps.\n"
"Stacks of all processes are then walked by these tables, without sfjit run.\n"
"Runs until SIGTERM or SIGINT; systemctl start sfjit-daemon runs it as a service.\n"
"\n"
"  -m, --memory=MIB       that all tables may take together (default 256)\n"
"  -t, --timeout=SECONDS  that opening or reading a file may block (default 10)\n"
"  -v, --verbose          print what becomes of each file\n"
"  -h, --help             print this\n";

static const struct option long_options[] = {
	{ "memory", required_argument, NULL, 'm' },
	{ "timeout", required_argument, NULL, 't' },
	{ "verbose", no_argument, NULL, 'v' },
	{ "help", no_argument, NULL, 'h' },
	{ },
};

static int complain_of_tables(int error)
{
	if (error == EINVAL)
		fputs("sfjit daemon: this kernel has no tables of files: load "
		      "the module of this version on Linux 6.12, or boot a "
		      "kernel with its patches (sfjit doctor)\n", stderr);
	else if (error == EPERM || error == EACCES)
		fprintf(stderr, "sfjit daemon: tables of files: %s: run it as "
			"root, or with CAP_PERFMON\n", strerror(error));
	else
		fprintf(stderr, "sfjit daemon: tables of files: %s\n",
			strerror(error));
	return EXIT_OURS;
}

static int complain_of_events(int error)
{
	fprintf(stderr, "sfjit daemon: perf_event_open: %s: %s\n",
		strerror(error), error == EACCES || error == EPERM ?
		"run it as root or with CAP_PERFMON, and let seccomp pass it" :
		"the kernel needs PERF_EVENTS=y");
	return EXIT_OURS;
}

static void adopt(void *arg, const struct file_table *table)
{
	fileset_adopt(arg, table);
}

static int find_tables(struct daemon *daemon)
{
	int fd = service_take(STORE);
	bool kept = fd >= 0 && file_tables_are("/proc/self", fd);

	if (!kept)
		fd = file_tables_open();
	if (fd < 0)
		return fd;
	daemon->tables = fd;
	fileset_init(&daemon->files, fd, daemon->options->memory << 20);
	if (kept)
		file_tables_list("/proc/self", fd, adopt, NULL, &daemon->files);
	else
		service_keep(STORE, fd);
	fileset_make_room(&daemon->files, 0);
	return 0;
}

static void catch_signals(struct daemon *daemon)
{
	sigset_t set;

	sigemptyset(&set);
	sigaddset(&set, SIGTERM);
	sigaddset(&set, SIGINT);
	sigprocmask(SIG_BLOCK, &set, NULL);
	signal(SIGCHLD, SIG_DFL);
	daemon->signals = signalfd(-1, &set, SFD_CLOEXEC);
}

static int serve(const struct options *options)
{
	static struct daemon daemon;
	int ret;

	daemon.options = options;
	daemon.worker.socket = -1;
	ret = find_tables(&daemon);
	if (ret)
		return complain_of_tables(-ret);
	ret = events_open(&daemon.events);
	if (ret)
		return complain_of_events(-ret);
	catch_signals(&daemon);
	loop_run(&daemon);
	fileset_clear(&daemon.files);
	events_close(&daemon.events);
	return 0;
}

static bool parse_number(const char *text, uint64_t most, uint64_t *value)
{
	char *end;

	errno = 0;
	*value = isdigit((unsigned char)*text) ? strtoull(text, &end, 10) : 0;
	return *value && *value <= most && !*end && !errno;
}

static bool take_option(struct options *options, int c)
{
	switch (c) {
	case 'm':
		return parse_number(optarg, UINT32_MAX, &options->memory);
	case 't':
		return parse_number(optarg, 3600, &options->seconds);
	case 'v':
		options->verbose = true;
		return true;
	}
	return false;
}

int command_daemon(int argc, char **argv)
{
	struct options options = { .memory = 256, .seconds = 10 };
	int c;

	optind = 1;
	while ((c = getopt_long(argc, argv, "+m:t:vh", long_options,
				NULL)) != -1) {
		if (c == 'h')
			return print_help(usage);
		if (!take_option(&options, c))
			break;
	}
	if (c == -1 && optind == argc)
		return serve(&options);
	fputs(usage, stderr);
	return EXIT_OURS;
}
