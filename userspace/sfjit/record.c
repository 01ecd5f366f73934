// SPDX-License-Identifier: MIT
// SPDX-FileCopyrightText: 2026 The sfjit authors
/*
 * sfjit record: perf record --call-graph=dwarf, whose copies of stacks go
 * through a pipe and never to a file.
 */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "build_ids.h"
#include "commands.h"
#include "convert.h"
#include "program.h"
#include "record_options.h"
#include "util.h"

static const char usage[] =
"Usage: sfjit record [OPTION]... [OPTION OF perf record]... [COMMAND...]\n"
"       sfjit record [OPTION]... [OPTION OF perf record]... -- COMMAND...\n"
"\n"
"Profiles as perf record --call-graph=dwarf does, and unwinds each sample at\n"
"once. The recording has ordinary call chains.\n"
"\n"
"  -o, --output=FILE  perf.data if not given; a file that is there becomes\n"
"                     FILE.old\n"
"      --stack=BYTES  of each stack, a multiple of 8; if not given, 32768 for\n"
"                     root, else 8192\n"
"      --quiet        print errors only\n"
"  -h, --help         print this\n";

/* ---- Signals ------------------------------------------------------------ */

/*
 * These end the recording. perf record handles the first two and would die of
 * the others, so it ignores those and is sent SIGTERM.
 */
static const int ends[] = { SIGINT, SIGTERM, SIGHUP, SIGQUIT };

#define NR_ENDS		(sizeof(ends) / sizeof(ends[0]))
#define NR_OF_PERF	2

static volatile sig_atomic_t perf, caught;
static bool stopped;		/* by ourselves */
static sigset_t unblocked;
static struct sigaction before[NR_ENDS], before_pipe, before_limit;

static void end_perf(int signal)
{
	int error = errno;

	if (!caught)
		caught = signal;
	if (perf)
		kill(perf, signal == SIGINT ? SIGINT : SIGTERM);
	errno = error;
}

/* perf takes the first two also if they were ignored. */
static bool is_ignored(size_t i)
{
	return i >= NR_OF_PERF && before[i].sa_handler == SIG_IGN;
}

/* Until perf is there they wait. */
static void begin_signals(void)
{
	struct sigaction end = { .sa_handler = end_perf,
				 .sa_flags = SA_RESTART };
	struct sigaction ignore = { .sa_handler = SIG_IGN };
	sigset_t set;
	size_t i;

	sigemptyset(&set);
	for (i = 0; i < NR_ENDS; i++) {
		sigaddset(&set, ends[i]);
		sigaction(ends[i], NULL, &before[i]);
	}
	sigprocmask(SIG_BLOCK, &set, &unblocked);
	for (i = 0; i < NR_ENDS; i++)
		if (!is_ignored(i))
			sigaction(ends[i], &end, NULL);
	/* A write that fails says so. */
	sigaction(SIGPIPE, &ignore, &before_pipe);
	sigaction(SIGXFSZ, &ignore, &before_limit);
}

static void set_signals_of_perf(void)
{
	size_t i;

	for (i = 0; i < NR_ENDS; i++)
		signal(ends[i], i < NR_OF_PERF ? SIG_DFL : SIG_IGN);
	sigaction(SIGPIPE, &before_pipe, NULL);
	sigaction(SIGXFSZ, &before_limit, NULL);
	sigprocmask(SIG_SETMASK, &unblocked, NULL);
}

/* ---- The command -------------------------------------------------------- */

/*
 * perf sends the output of a command to its standard error when it writes the
 * recording to its standard output, and the command would inherit the signals
 * that perf ignores. So perf starts this program again, which gives both back
 * to the command and becomes it.
 */
#define BECOME		"--become"

/* argv: BECOME, the descriptor for its output, ignored signals, the command. */
static int become(char **argv)
{
	int out = atoi(argv[1]);
	size_t i;

	if (dup2(out, STDOUT_FILENO) < 0) {
		fprintf(stderr, "sfjit: output of the command: %s\n",
			strerror(errno));
		return EXIT_OURS;
	}
	if (out > STDERR_FILENO)
		close(out);
	for (i = NR_OF_PERF; i < NR_ENDS; i++)
		if (argv[2][i - NR_OF_PERF] == '-')
			signal(ends[i], SIG_DFL);
	execvp(argv[3], argv + 3);
	fprintf(stderr, "sfjit: %s: %s\n", argv[3], strerror(errno));
	return errno == ENOENT ? EXIT_NOT_FOUND : EXIT_CANNOT_RUN;
}

static char *find_self(void)
{
	char path[PATH_MAX];
	ssize_t length = readlink("/proc/self/exe", path, sizeof(path));

	if (length < 0 || length == sizeof(path))
		return NULL;
	return check_alloc(strndup(path, length));
}

/* Before anything is written. */
static int check_command(const struct recording *r)
{
	struct program program;
	int ret;

	if (!r->nr_command)
		return 0;
	ret = program_find(&program, r->command[0]);
	if (!ret)
		return 0;
	fprintf(stderr, "sfjit: %s: %s\n", r->command[0], ret == -ENOENT ?
		"command not found" : strerror(-ret));
	return ret == -ENOENT ? EXIT_NOT_FOUND : EXIT_CANNOT_RUN;
}

/* ---- perf --------------------------------------------------------------- */

#define MOST_OURS	20

static char **add_command(const struct recording *r, char **to, int out)
{
	static char number[12], ignored[NR_ENDS];
	size_t i;

	snprintf(number, sizeof(number), "%d", out);
	for (i = NR_OF_PERF; i < NR_ENDS; i++)
		ignored[i - NR_OF_PERF] = is_ignored(i) ? 'i' : '-';
	*to++ = "--";
	*to++ = check_alloc(find_self());
	*to++ = "record";
	*to++ = BECOME;
	*to++ = number;
	*to++ = ignored;
	memcpy(to, r->command, r->nr_command * sizeof(*to));
	return to + r->nr_command;
}

static char **make_arguments(const struct recording *r, int out)
{
	size_t most = MOST_OURS + r->nr_options + r->nr_command;
	char **args = check_alloc(calloc(most, sizeof(*args))), **to = args;
	unsigned long usual = geteuid() ? STACK_USUAL : STACK_ROOT;
	static char graph[40];

	snprintf(graph, sizeof(graph), "--call-graph=dwarf,%lu",
		 r->stack ? r->stack : usual);
	*to++ = "perf";
	*to++ = "record";
	*to++ = graph;
	*to++ = "-o";
	*to++ = "-";
	if (r->quiet)
		*to++ = "-q";
	/* room for as many samples as perf's usual ones have */
	if (!r->buffers && !geteuid()) {
		*to++ = "-m";
		*to++ = BUFFERS_ROOT;
	}
	/* the clock of jitdumps */
	if (!r->clock) {
		*to++ = "-k";
		*to++ = "CLOCK_MONOTONIC";
	}
	if (r->nr_options)
		memcpy(to, r->options, r->nr_options * sizeof(*to));
	to += r->nr_options;
	if (r->nr_command)
		add_command(r, to, out);
	return args;
}

/* @out: where the output of the command goes. */
static void run_perf(const struct recording *r, const int pipe[2], int out)
{
	char **args;

	out = fcntl(out, F_DUPFD, STDERR_FILENO + 1);
	args = make_arguments(r, out);
	if (out < 0 || dup2(pipe[1], STDOUT_FILENO) < 0) {
		fprintf(stderr, "sfjit: output: %s\n", strerror(errno));
		_exit(EXIT_OURS);
	}
	close(pipe[0]);
	close(pipe[1]);
	set_signals_of_perf();
	execvp("perf", args);
	if (errno == ENOENT)
		fputs("sfjit: perf is not installed: apt-get install "
		      "linux-perf\n", stderr);
	else
		fprintf(stderr, "sfjit: perf: %s\n", strerror(errno));
	_exit(errno == ENOENT ? EXIT_NOT_FOUND : EXIT_CANNOT_RUN);
}

/* The end of perf: its exit status, or that of a shell for a signal. */
static int wait_for_perf(void)
{
	siginfo_t info;
	int status;

	while (waitid(P_PID, perf, &info, WEXITED | WNOWAIT))
		if (errno != EINTR)
			return EXIT_OURS;
	perf = 0;
	waitpid(info.si_pid, &status, 0);
	if (WIFEXITED(status))
		return WEXITSTATUS(status);
	status = WTERMSIG(status);
	if (!caught && !stopped)
		fprintf(stderr, "sfjit: perf record was ended by signal %d "
			"(%s)\n", status, strsignal(status));
	return 128 + status;
}

/* ---- perf's settings --------------------------------------------------- */

struct settings {
	char dir[PATH_MAX];	/* buildid.dir, or "" */
	bool no_build_ids, no_cache;
};

static void take_setting(struct settings *settings, const char *line)
{
	if (sscanf(line, "buildid.dir=%4095[^\n]", settings->dir) == 1)
		settings->no_cache |= !strcmp(settings->dir, "/dev/null");
	else if (!strcmp(line, "record.build-id=no-cache\n"))
		settings->no_cache = true;
	else if (!strcmp(line, "record.build-id=skip\n") ||
		 !strcmp(line, "record.build-id=mmap\n"))
		settings->no_build_ids = true;
}

/* Without a perf that knows them they are the usual ones. */
static void read_settings(struct settings *settings)
{
	char *line = NULL;
	size_t room = 0;
	FILE *perf = popen("exec perf config record.build-id buildid.dir "
			   "2>/dev/null", "re");

	if (!perf)
		return;
	while (getline(&line, &room, perf) > 0)
		take_setting(settings, line);
	free(line);
	pclose(perf);
}

static enum build_ids_want wanted(const struct recording *r,
				  const struct settings *settings)
{
	if (r->no_build_ids || settings->no_build_ids)
		return BUILD_IDS_NONE;
	if (r->no_cache || settings->no_cache)
		return BUILD_IDS_ONLY;
	return r->all_build_ids ? BUILD_IDS_ALL : BUILD_IDS_COPIES;
}

/* ---- The recording ------------------------------------------------------ */

/* perf has said why. */
static bool is_empty(int fd)
{
	struct pollfd event = { .fd = fd, .events = POLLIN };

	while (poll(&event, 1, -1) < 0)
		if (errno != EINTR)
			return false;
	return !(event.revents & POLLIN);
}

/* perf ends, as for SIGTERM, and does not wait for a reader. */
static void stop_perf(int fd)
{
	char rest[65536];
	ssize_t n;

	stopped = true;
	kill(perf, SIGTERM);
	do {
		n = read(fd, rest, sizeof(rest));
	} while (n > 0 || (n < 0 && errno == EINTR));
}

/* What perf writes to a pipe has no build-ids. */
static struct build_ids *begin_build_ids(const struct recording *r,
					 const struct settings *settings,
					 const struct target *out,
					 char usual[PATH_MAX])
{
	struct stat st;

	if (fstat(out->fd, &st) || !S_ISREG(st.st_mode))
		return NULL;
	return build_ids_begin(wanted(r, settings), *settings->dir ?
			       settings->dir : convert_copies(usual));
}

#define EMPTY	2

static int convert_all(const struct recording *r, int fd, struct target *out,
		       const struct settings *settings)
{
	struct build_ids *ids;
	char usual[PATH_MAX];
	bool kernel;
	int ret;

	if (is_empty(fd)) {
		target_drop(out);
		return EMPTY;
	}
	ids = begin_build_ids(r, settings, out, usual);
	ret = convert_recorded("perf record", fd, out, r->quiet,
			       build_ids_files(ids), &kernel);
	if (ret)
		stop_perf(fd);
	else
		build_ids_copy(ids, kernel);
	build_ids_end(ids);
	return ret;
}

/*
 * perf loses samples while it waits for room in the pipe, and it waits when the first
 * stack in a large file has that file's CFI read. A pipe takes memory only when it fills,
 * but its list of pages is contiguous: less may be all there is.
 */
#define PIPE_MOST	(64 << 20)
#define PIPE_USUAL	(1 << 20)	/* what Linux lets any user have */

static void enlarge(int pipe)
{
	int size = PIPE_MOST;

	while (size >= PIPE_USUAL && fcntl(pipe, F_SETPIPE_SZ, size) < 0)
		size /= 2;
}

static int start_perf(const struct recording *r, const struct target *out)
{
	int fds[2];

	if (pipe2(fds, O_CLOEXEC)) {
		fprintf(stderr, "sfjit: pipe: %s\n", strerror(errno));
		return -1;
	}
	enlarge(fds[1]);
	begin_signals();
	perf = fork();
	if (!perf)
		run_perf(r, fds, target_is_standard(out) ? STDERR_FILENO :
							   STDOUT_FILENO);
	close(fds[1]);
	if (perf > 0) {
		sigprocmask(SIG_SETMASK, &unblocked, NULL);
		return fds[0];
	}
	fprintf(stderr, "sfjit: fork: %s\n", strerror(errno));
	return -1;
}

static int exit_status(int ret, int status)
{
	if (ret && ret != EMPTY)
		return EXIT_OURS;
	if (caught)
		return 128 + caught;
	if (ret && !status) {
		fputs("sfjit: perf record wrote nothing\n", stderr);
		return EXIT_OURS;
	}
	return status;
}

static int record(const struct recording *r)
{
	struct settings settings = { };
	struct target out;
	int fd, ret;

	ret = check_command(r);
	if (ret)
		return ret;
	if (!r->no_build_ids)
		read_settings(&settings);
	if (convert_output(&out, r->output, true))
		return EXIT_OURS;
	fd = start_perf(r, &out);
	if (fd < 0) {
		target_drop(&out);
		return EXIT_OURS;
	}
	ret = convert_all(r, fd, &out, &settings);
	close(fd);
	return exit_status(ret, wait_for_perf());
}

int command_record(int argc, char **argv)
{
	struct recording r = { .output = "perf.data" };

	if (argc > 4 && !strcmp(argv[1], BECOME))
		return become(argv + 1);
	switch (record_parse(&r, argc, argv)) {
	case RECORD_HELP:
		return print_help(usage);
	case RECORD_WRONG:
		return EXIT_OURS;
	default:
		return record(&r);
	}
}
