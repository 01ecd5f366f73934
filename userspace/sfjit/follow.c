// SPDX-License-Identifier: MIT
// SPDX-FileCopyrightText: 2026 The sfjit authors
/*
 * /proc/PID/sframe goes with a process's memory. A tracer is told that a thread
 * ends while the memory still exists. The counts at the last thread's end are
 * the process's.
 */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <signal.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "follow.h"
#include "printable.h"
#include "ps.h"
#include "util.h"

/* From <linux/ptrace.h>, which does not go with <sys/ptrace.h>. */
#define EVENT_STOP	128

struct ended {
	struct ended *next;
	pid_t pid;
	char *text;
};

static struct ended *all;

static const char *path;
static pid_t command;
static int complaints = -1;	/* where to say that writing failed */
static bool has_failed;

/* ---- What is written --------------------------------------------------- */

static void write_last(const struct ps_process *p, FILE *out)
{
	const struct ps_map *map = ps_find_map(&p->maps, p->ends.last_ip);

	if (!strcmp(p->ends.last_reason, "none"))
		return;
	fprintf(out, "last %s ", p->ends.last_reason);
	if (map) {
		printable_print(map->name, out);
		fprintf(out, "+0x%" PRIx64 "\n",
			p->ends.last_ip - map->start + map->offset);
	} else {
		fprintf(out, "0x%" PRIx64 "\n", p->ends.last_ip);
	}
}

static void write_process(const struct ps_process *p, FILE *out)
{
	unsigned int i;

	fprintf(out, "process %d ", p->pid);
	printable_print(p->command, out);
	fputc('\n', out);
	for (i = 0; i < p->ends.nr_counts; i++)
		if (p->ends.counts[i].count)
			fprintf(out, "%s %" PRIu64 "\n", p->ends.counts[i].reason,
				p->ends.counts[i].count);
	write_last(p, out);
}

static char *describe_process(const struct ps_process *p)
{
	char *text;
	size_t size;
	FILE *out = check_alloc(open_memstream(&text, &size));

	write_process(p, out);
	fclose(out);
	return text;
}

/* ---- What is seen ------------------------------------------------------ */

static struct ended **find_ended(pid_t pid)
{
	struct ended **at = &all;

	while (*at && (*at)->pid != pid)
		at = &(*at)->next;
	return at;
}

static void keep_process(const struct ps_process *p)
{
	struct ended **at = find_ended(p->pid);

	if (!*at) {
		*at = check_alloc(calloc(1, sizeof(**at)));
		(*at)->pid = p->pid;
	}
	free((*at)->text);
	(*at)->text = describe_process(p);
}

static pid_t process_of(pid_t tid)
{
	char dir[64], line[256];
	pid_t pid = 0;
	FILE *file;

	snprintf(dir, sizeof(dir), "/proc/%d", tid);
	file = ps_open(dir, "status");
	while (file && !pid && fgets(line, sizeof(line), file))
		sscanf(line, "Tgid: %d", &pid);
	if (file)
		fclose(file);
	return pid;
}

/*
 * A thread is about to end. Its own directory has the memory of the process,
 * also if the first thread has ended.
 */
static void look_at_ending(pid_t tid)
{
	struct ps_request request = { .proc = "/proc", .detail = PS_COUNTS };
	struct ps_process p;
	char dir[64];

	if (!ps_read(&p, &request, tid) && p.nr_windows) {
		snprintf(dir, sizeof(dir), "/proc/%d", tid);
		if (strcmp(p.ends.last_reason, "none"))
			ps_read_maps(&p.maps, dir);
		p.pid = process_of(tid);
		keep_process(&p);
	}
	ps_free(&p);
}

/*
 * A pipe or a socket that is kept open would be waited for. At its end the
 * command still has it, and the tracer has a copy only until that is over.
 */
static void borrow_stderr(pid_t tid)
{
	char name[64];

	if (complaints >= 0 || process_of(tid) != command)
		return;
	snprintf(name, sizeof(name), "/proc/%d/fd/2", tid);
	complaints = open(name, O_WRONLY | O_APPEND | O_NONBLOCK | O_NOCTTY |
			  O_CLOEXEC);
}

static void return_stderr(void)
{
	struct stat st;

	if (complaints < 0 || (!fstat(complaints, &st) &&
			       (S_ISREG(st.st_mode) || isatty(complaints))))
		return;
	close(complaints);
	complaints = -1;
}

/*
 * Remove what we wrote of the process: readers cannot use a part. A device or a
 * FIFO has no length.
 */
static void fail_to_write(FILE *out, off_t good, int error)
{
	has_failed = true;
	if (good >= 0 && ftruncate(fileno(out), good) && errno != EINVAL)
		error = errno;
	if (complaints >= 0)
		dprintf(complaints, "sfjit: %s: cannot write why walks ended: "
			"%s; it lacks processes: use another file, and run the "
			"command again\n", path, strerror(error));
}

/* The first thread of a process reports its end after all others. */
static void write_ended(pid_t pid, FILE *out)
{
	struct ended **at = find_ended(pid), *e = *at;
	off_t good = ftello(out);

	if (!e)
		return;
	*at = e->next;
	if (!has_failed && (fputs(e->text, out) < 0 || fflush(out)))
		fail_to_write(out, good, errno);
	free(e->text);
	free(e);
}

static bool is_job_control(int signal)
{
	return signal == SIGSTOP || signal == SIGTSTP || signal == SIGTTIN ||
	       signal == SIGTTOU;
}

static void continue_thread(pid_t tid, int status)
{
	int event = status >> 16, signal = WSTOPSIG(status);

	if (event == PTRACE_EVENT_EXIT) {
		look_at_ending(tid);
		borrow_stderr(tid);
	}
	/* A process that was stopped stays so. */
	if (event == EVENT_STOP && is_job_control(signal))
		ptrace(PTRACE_LISTEN, tid, 0, 0);
	else
		ptrace(PTRACE_CONT, tid, 0, event ? 0 : signal);
}

/*
 * Write the process's counts before its parent learns that it ended, so that a
 * program which waits for the command finds them.
 */
static void trace(FILE *out)
{
	siginfo_t info;
	int status;

	while (!waitid(P_ALL, 0, &info, WEXITED | WSTOPPED | WNOWAIT |
		       __WALL)) {
		if (info.si_code == CLD_EXITED || info.si_code == CLD_KILLED ||
		    info.si_code == CLD_DUMPED) {
			write_ended(info.si_pid, out);
			if (info.si_pid == command)
				return_stderr();
		}
		if (waitpid(info.si_pid, &status, __WALL) == info.si_pid &&
		    WIFSTOPPED(status))
			continue_thread(info.si_pid, status);
	}
}

/* ---- Beginning --------------------------------------------------------- */

static bool write_value(int fd, int value)
{
	return write(fd, &value, sizeof(value)) == sizeof(value);
}

static int hear(int fd)
{
	int value;

	return read(fd, &value, sizeof(value)) == sizeof(value) ? value :
	       -ECHILD;
}

/* Whoever waits for the ends of the command's pipes waits for it alone. */
static void leave_parent(void)
{
	int null = open("/dev/null", O_RDWR | O_CLOEXEC), fd;
	sigset_t none;
	struct stat st;

	/* A file, or a terminal, may stay open. */
	if (!fstat(2, &st) && (S_ISREG(st.st_mode) || isatty(2)))
		complaints = fcntl(2, F_DUPFD_CLOEXEC, 3);
	for (fd = 0; fd < 3; fd++)
		dup2(null, fd);
	setsid();
	signal(SIGCHLD, SIG_DFL);
	signal(SIGHUP, SIG_IGN);
	signal(SIGPIPE, SIG_IGN);
	signal(SIGXFSZ, SIG_IGN);
	sigemptyset(&none);
	sigprocmask(SIG_SETMASK, &none, NULL);
}

static void be_tracer(pid_t pid, int from, int to,
		      const struct tracer *tracer)
{
	long ret;

	/* When it allows this. */
	if (!write_value(to, getpid()) || hear(from))
		_exit(1);
	ret = ptrace(PTRACE_SEIZE, pid, 0, tracer->options);
	if (!write_value(to, ret ? -errno : 0) || ret)
		_exit(1);
	close(from);
	close(to);
	command = pid;
	leave_parent();
	tracer->run(pid, tracer->argument);
	_exit(0);
}

static int agree_on_tracer(int from, int to)
{
	int tracer = hear(from);

	if (tracer < 0)
		return tracer;
	/* EINVAL: a kernel without Yama, where it takes no permission. */
	prctl(PR_SET_PTRACER, tracer, 0, 0, 0);
	return write_value(to, 0) ? hear(from) : -ECHILD;
}

/* Its parent ends, so that the command has no child that it did not make. */
int tracer_start(const struct tracer *tracer)
{
	int up[2], down[2], ret;
	pid_t pid = getpid(), child;

	if (pipe2(up, O_CLOEXEC) || pipe2(down, O_CLOEXEC))
		return -errno;
	child = fork();
	if (child < 0)
		return -errno;
	if (!child) {
		close(up[0]);
		close(down[1]);
		if (!fork())
			be_tracer(pid, down[0], up[1], tracer);
		_exit(0);
	}
	close(up[1]);
	close(down[0]);
	while (waitpid(child, NULL, 0) < 0 && errno == EINTR)
		;
	ret = agree_on_tracer(up[0], down[1]);
	close(up[0]);
	close(down[1]);
	return ret;
}

static void follow_until_end(pid_t pid, void *out)
{
	trace(out);
}

/* Truncate the old file once the tracer runs, not before. */
int follow(const char *file)
{
	int fd = open(file, O_WRONLY | O_CREAT | O_NOCTTY | O_CLOEXEC, 0666);
	FILE *out = fd < 0 ? NULL : fdopen(fd, "w");
	const struct tracer tracer = {
		.options = PTRACE_O_TRACEEXIT | PTRACE_O_TRACEFORK |
			   PTRACE_O_TRACEVFORK | PTRACE_O_TRACECLONE,
		.run = follow_until_end, .argument = out,
	};
	int ret;

	if (!out)
		return -errno;
	path = file;
	ret = tracer_start(&tracer);
	/* A device or a FIFO has no length. */
	if (!ret && ftruncate(fd, 0) && errno != EINVAL)
		ret = -errno;
	fclose(out);
	return ret;
}
