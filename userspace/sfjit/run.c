// SPDX-License-Identifier: MIT
// SPDX-FileCopyrightText: 2026 The sfjit authors
/* sfjit run: sets the environment and becomes the command. */
#include <errno.h>
#include <fcntl.h>
#include <getopt.h>
#include <limits.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ptrace.h>
#include <sys/wait.h>
#include <unistd.h>

#include "cache.h"
#include "commands.h"
#include "follow.h"
#include "kernel.h"
#include "library.h"
#include "path.h"
#include "program.h"

static const char usage[] =
"Usage: sfjit run [OPTION]... [--] COMMAND [ARGUMENT]...\n"
"\n"
"Runs COMMAND, and the programs it starts, with SFrame windows for the code\n"
"of each program and its libraries: perf record --call-graph=fp walks it.\n"
"\n"
"  -j, --java      also describe the code of Java VMs, by an agent\n"
"  -v, --verbose   say on standard error what is registered\n"
"  -o, --log=FILE  append that to FILE instead\n"
"  -r, --reasons=FILE\n"
"                  write to FILE why the kernel ended walks, for sfjit explain;\n"
"                  the programs are traced meanwhile, and cannot be asked\n"
"                  for interpreted functions (--assist)\n"
"  -h, --help      print this\n";

static const struct option options[] = {
	{ "java", no_argument, NULL, 'j' },
	{ "verbose", no_argument, NULL, 'v' },
	{ "log", required_argument, NULL, 'o' },
	{ "reasons", required_argument, NULL, 'r' },
	{ "help", no_argument, NULL, 'h' },
	{ },
};

static int fail_run(const char *what, int error)
{
	fprintf(stderr, "sfjit: %s: %s\n", what, strerror(error));
	return EXIT_OURS;
}

static int find_preload(char path[PATH_MAX])
{
	int ret = library_find(LIBRARY_PRELOAD, path);

	if (ret)
		return fail_run(path, -ret);
	if (!library_can_preload(path)) {
		fprintf(stderr, "sfjit: %s: ld.so cannot preload from a path "
			"with space, colon or dollar\n", path);
		return EXIT_OURS;
	}
	return 0;
}

static bool is_listed(const char *list, const char *path)
{
	size_t length = strlen(path), n;

	for (; *list; list += n + (list[n] != '\0')) {
		n = strcspn(list, " :");
		if (n == length && !strncmp(list, path, n))
			return true;
	}
	return false;
}

/*
 * Ours comes last: it interposes no symbol, and some libraries have to be the
 * first.
 */
static int add_preload(const char *path)
{
	const char *old = getenv("LD_PRELOAD");
	char *list;
	int ret;

	if (!old || !*old)
		return setenv("LD_PRELOAD", path, 1);
	if (is_listed(old, path))
		return 0;
	if (asprintf(&list, "%s:%s", old, path) < 0)
		return -1;
	ret = setenv("LD_PRELOAD", list, 1);
	free(list);
	return ret;
}

/*
 * AddressSanitizer ends a program in which another library comes before its own,
 * as that could replace its functions unseen, unless it is told not to look. The
 * functions that the module defines go on to the sanitizer's.
 */
#define ASAN_CHECK	"verify_asan_link_order"

static int allow_asan(void)
{
	const char *old = getenv("ASAN_OPTIONS");
	char *list;
	int ret;

	if (!old || !*old)
		return setenv("ASAN_OPTIONS", ASAN_CHECK "=0", 1);
	if (strstr(old, ASAN_CHECK))
		return 0;
	if (asprintf(&list, "%s:" ASAN_CHECK "=0", old) < 0)
		return -1;
	ret = setenv("ASAN_OPTIONS", list, 1);
	free(list);
	return ret;
}

/* Java splits the variable at spaces, but for what is quoted. */
static int add_agent(void)
{
	const char *old = getenv("JAVA_TOOL_OPTIONS");
	char path[PATH_MAX], *agent, *list = NULL;
	int ret = library_find(LIBRARY_HOTSPOT, path);

	if (ret)
		return fail_run(path, -ret);
	if (asprintf(&agent, "'-agentpath:%s'", path) < 0)
		return fail_run("JAVA_TOOL_OPTIONS", errno);
	if (!old || !*old)
		ret = setenv("JAVA_TOOL_OPTIONS", agent, 1);
	else if (!strstr(old, agent))
		ret = asprintf(&list, "%s %s", old, agent) < 0 ? -1 :
		      setenv("JAVA_TOOL_OPTIONS", list, 1);
	free(agent);
	free(list);
	return ret ? fail_run("JAVA_TOOL_OPTIONS", errno) : 0;
}

/*
 * The module opens it for each line, and says nothing if it cannot. A FIFO may
 * get its reader later.
 */
static int check_log(const char *file)
{
	int fd = open(file, O_WRONLY | O_APPEND | O_NONBLOCK | O_NOCTTY |
		      O_CLOEXEC);
	char dir[PATH_MAX];

	if (fd >= 0)
		return close(fd);
	if (errno == ENXIO)
		return 0;
	if (errno != ENOENT || snprintf(dir, sizeof(dir), "%.*s.",
			(int)path_directory(file), file) >= PATH_MAX)
		return -1;
	return faccessat(AT_FDCWD, dir, W_OK, AT_EACCESS);
}

static int set_log(const char *file)
{
	char dir[PATH_MAX], *path;
	int ret;

	if (file[0] == '/')
		return setenv("SFJIT_LOG", file, 1);
	/* The command may run anywhere. */
	if (!getcwd(dir, sizeof(dir)) ||
	    asprintf(&path, "%s/%s", dir, file) < 0)
		return -1;
	if (strlen(path) >= PATH_MAX) {
		errno = ENAMETOOLONG;
		ret = -1;
	} else {
		ret = setenv("SFJIT_LOG", path, 1);
	}
	free(path);
	return ret;
}

/* ---- A program that preloads nothing: sfjit attach to it ----------------- */

/* This kernel has windows, and this machine sfjit attach. */
static bool at_start_possible(void)
{
	return command_attach && !kernel_lacks_windows();
}

/* False: the process has ended. */
static bool wait_for_exec(pid_t pid)
{
	int status, signal;

	while (waitpid(pid, &status, __WALL) == pid && WIFSTOPPED(status)) {
		if (status >> 16 == PTRACE_EVENT_EXEC)
			return !ptrace(PTRACE_DETACH, pid, 0, 0);
		/* Of a stop by an event, there is no signal to deliver. */
		signal = status >> 16 ? 0 : WSTOPSIG(status);
		if (ptrace(PTRACE_CONT, pid, 0, signal))
			return false;
	}
	return false;
}

static void run_at_start(pid_t pid, void *messages)
{
	char number[16], *argv[] = { "attach", number, NULL };

	snprintf(number, sizeof(number), "%d", pid);
	dup2(*(int *)messages, STDERR_FILENO);
	close(*(int *)messages);
	if (wait_for_exec(pid))
		command_attach(2, argv);
}

/* -1: messages are not wanted. */
static int open_messages(void)
{
	const char *log = getenv("SFJIT_LOG"), *verbose = getenv("SFJIT_VERBOSE");

	if (log && *log == '/')
		return open(log, O_WRONLY | O_APPEND | O_CREAT | O_NONBLOCK |
			    O_NOCTTY | O_CLOEXEC, 0600);
	if (verbose && *verbose && strcmp(verbose, "0"))
		return fcntl(STDERR_FILENO, F_DUPFD_CLOEXEC, 3);
	return -1;
}

/*
 * Another process attaches to this one as soon as it has executed a program. It
 * reports errors where the module reports registrations. 0 or -errno.
 */
static int at_start_attach(void)
{
	int messages = open_messages(), ret;
	const struct tracer tracer = {
		.options = PTRACE_O_TRACEEXEC,
		.run = run_at_start, .argument = &messages,
	};

	ret = tracer_start(&tracer);
	if (messages >= 0)
		close(messages);
	return ret;
}

/* ---- The program ---------------------------------------------------------- */

static int explain_failure(const char *command, int error)
{
	fprintf(stderr, "sfjit: %s: %s\n", command, error == ENOENT ?
		"command not found" : strerror(error));
	return error == ENOENT ? EXIT_NOT_FOUND : EXIT_CANNOT_RUN;
}

static void print_remark(const char *command, const struct program *program)
{
	const char *lacks;

	if (program->why_not) {
		fprintf(stderr, "sfjit: %s %s; %s\n", command,
			program->why_not, program->attach ?
			"sfjit attaches to it" : "it runs without windows");
		return;
	}
	lacks = kernel_lacks_windows();
	if (lacks)
		fprintf(stderr, "sfjit: %s; %s runs without\n", lacks, command);
}

/* A message that cannot be written must not keep the program from starting. */
static void warn(const char *command, const struct program *program)
{
	void (*old_pipe)(int) = signal(SIGPIPE, SIG_IGN);
	void (*old_limit)(int) = signal(SIGXFSZ, SIG_IGN);

	print_remark(command, program);
	signal(SIGPIPE, old_pipe);
	signal(SIGXFSZ, old_limit);
}

/* A file that is neither ELF nor "#!" is a shell script: execvp()'s rule. */
static void execute_program(const char *path, char **argv, int argc)
{
	char *shell[argc + 2];

	execv(path, argv);
	if (errno != ENOEXEC)
		return;
	shell[0] = "sh";
	shell[1] = (char *)path;
	memcpy(shell + 2, argv + 1, argc * sizeof(*argv));
	execv("/bin/sh", shell);
}

static int run_with_windows(int argc, char **argv, const char *reasons)
{
	struct program program;
	char preload[PATH_MAX];
	int ret;

	ret = program_find(&program, argv[0]);
	if (ret)
		return explain_failure(argv[0], -ret);
	ret = find_preload(preload);
	if (ret)
		return ret;
	/* A process has one tracer. */
	program.attach &= !reasons && at_start_possible();
	cache_tend();
	warn(argv[0], &program);
	if (!program.no_preload && add_preload(preload))
		return fail_run("LD_PRELOAD", errno);
	if (!program.no_preload && allow_asan())
		return fail_run("ASAN_OPTIONS", errno);
	/* The kernel does not ask a traced program: libsfjit says so by this. */
	if (reasons && setenv("SFJIT_REASONS", "1", 1))
		return fail_run("SFJIT_REASONS", errno);
	ret = reasons ? follow(reasons) : 0;
	if (ret)
		return fail_run(reasons, -ret);
	if (program.attach) {
		ret = at_start_attach();
		if (ret)
			fail_run("attach", -ret);
	}
	execute_program(program.path, argv, argc);
	return explain_failure(argv[0], errno);
}

static int print_bad_usage(void)
{
	fputs(usage, stderr);
	return EXIT_OURS;
}

int command_run(int argc, char **argv)
{
	const char *reasons = NULL, *log = NULL;
	int c, ret = 0;
	bool java = false;

	optind = 1;
	while ((c = getopt_long(argc, argv, "+jvo:r:h", options, NULL)) != -1) {
		if (c == 'h')
			return print_help(usage);
		if (c == 'j')
			java = true;
		else if (c == 'v')
			ret = setenv("SFJIT_VERBOSE", "1", 1);
		else if (c == 'o')
			log = optarg;
		else if (c == 'r')
			reasons = optarg;
		else
			return print_bad_usage();
		if (ret)
			return fail_run("environment", errno);
	}
	if (optind == argc) {
		fputs("sfjit run: the command is missing\n", stderr);
		return print_bad_usage();
	}
	if (log && (check_log(log) || set_log(log)))
		return fail_run(log, errno);
	ret = java ? add_agent() : 0;
	return ret ? ret :
	       run_with_windows(argc - optind, argv + optind, reasons);
}
