// SPDX-License-Identifier: MIT
// SPDX-FileCopyrightText: 2026 The sfjit authors
/*
 * usage: attach-engine [ROUNDS]
 *
 * Makes system calls in threads of other processes, which check that they
 * notice nothing: those of attach-target, in this program's directory, and
 * children that stop at places of their own.
 */
#include <dirent.h>
#include <fcntl.h>
#include <linux/prctl.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "../lib/tap.h"
#include "remote.h"
#include "threads.h"
#include "trace.h"

#define PAGE	4096
#define ROUNDS	1000

struct target {
	pid_t pid;
	int in;
	FILE *out;
	uint64_t code;		/* of a system call */
};

/* Nothing takes as long, even on a busy machine. */
#define HANGS_SECONDS	600

/* Slows down the clock of attach by this factor. */
static unsigned int slower = HANGS_SECONDS;

/* attach's limit of one second becomes ten minutes, for busy machines. */
int clock_gettime(clockid_t clock, struct timespec *time)
{
	uint64_t ns;
	int ret = syscall(SYS_clock_gettime, clock, time);

	ns = (time->tv_sec * 1000000000ULL + time->tv_nsec) / slower;
	time->tv_sec = ns / 1000000000;
	time->tv_nsec = ns % 1000000000;
	return ret;
}

static void pause_us(long us)
{
	const struct timespec t = { us / 1000000, us % 1000000 * 1000 };

	nanosleep(&t, NULL);
}

static uint64_t find_call(pid_t pid)
{
	unsigned long start, end;
	char path[64], line[512];
	uint8_t *text, *found;
	uint64_t code = 0;
	FILE *maps;

	snprintf(path, sizeof(path), "/proc/%d/maps", pid);
	maps = fopen(path, "re");
	MUST(maps);
	while (!code && fgets(line, sizeof(line), maps)) {
		if (!strstr(line, "[vdso]") ||
		    sscanf(line, "%lx-%lx", &start, &end) != 2)
			continue;
		text = malloc(end - start);
		MUST(text && !remote_read(pid, start, text, end - start));
		found = memmem(text, end - start, registers_call_code,
			       sizeof(registers_call_code));
		code = found ? start + (found - text) : 0;
		free(text);
	}
	fclose(maps);
	MUST(code);
	return code;
}

static struct target start(char *const argv[])
{
	char path[512], word[16] = "";
	int in[2], out[2];
	struct target t;

	MUST(!pipe2(in, O_CLOEXEC) && !pipe2(out, O_CLOEXEC));
	MUST(readlink("/proc/self/exe", path, sizeof(path) - 32) > 0);
	t.pid = fork();
	MUST(t.pid >= 0);
	if (!t.pid) {
		sigset_t none;

		sigemptyset(&none);
		sigprocmask(SIG_SETMASK, &none, NULL);
		dup2(in[0], 0);
		dup2(out[1], 1);
		memset(path, 0, sizeof(path));
		MUST(readlink("/proc/self/exe", path, sizeof(path) - 32) > 0);
		strcpy(strrchr(path, '/'), "/programs/attach-target");
		execv(path, argv);
		_exit(127);
	}
	close(in[0]);
	close(out[1]);
	t.in = in[1];
	t.out = fdopen(out[0], "r");
	MUST(fgets(word, sizeof(word), t.out) && !strcmp(word, "ready\n"));
	t.code = find_call(t.pid);
	return t;
}

/* All threads must report no wrong round. */
static void stop(struct target *t, const char *what)
{
	unsigned long rounds, wrong;
	char line[512], name[512], word[32];
	int status, nr = 0;

	close(t->in);
	while (fgets(line, sizeof(line), t->out)) {
		line[strcspn(line, "\n")] = '\0';
		if (sscanf(line, "%31s %lu %lu", word, &rounds, &wrong) != 3)
			break;
		snprintf(name, sizeof(name), "%s: %s", what, word);
		result(rounds > 0 && !wrong, name, "%s", line);
		nr++;
	}
	fclose(t->out);
	MUST(waitpid(t->pid, &status, 0) == t->pid);
	snprintf(name, sizeof(name), "%s: the process ends as it wants", what);
	result(nr && WIFEXITED(status) && !WEXITSTATUS(status), name,
	       "%d threads, status %x", nr, status);
}

/* Mappings and file descriptors as text, except those that come and go. */
static char *snapshot(pid_t pid)
{
	char *text = NULL, path[64], link[512];
	struct dirent *entry;
	FILE *out, *maps;
	size_t size;
	ssize_t n;
	DIR *dir;

	out = open_memstream(&text, &size);
	snprintf(path, sizeof(path), "/proc/%d/maps", pid);
	maps = fopen(path, "re");
	snprintf(path, sizeof(path), "/proc/%d/fd", pid);
	dir = opendir(path);
	MUST(out && maps && dir);
	while (fgets(link, sizeof(link), maps))
		if (!strstr(link, "/dev/zero"))
			fputs(link, out);
	while ((entry = readdir(dir))) {
		n = readlinkat(dirfd(dir), entry->d_name, link,
			       sizeof(link) - 1);
		link[n > 0 ? n : 0] = '\0';
		if (strcmp(link, "/dev/zero"))
			fprintf(out, "%s %s\n", entry->d_name, link);
	}
	fclose(maps);
	closedir(dir);
	fclose(out);
	return text;
}

/* Negative: -errno of the engine; positive: the step that failed. */
static int judge(long got, long want, int step)
{
	if (got == want)
		return 0;
	return got == -ESRCH || got == -ETIMEDOUT || got == -ECONNREFUSED ?
	       got : step;
}

static int use_memory(struct remote *r, pid_t pid, long memory)
{
	const char name[] = "test";
	char back[sizeof(name)];
	long fd;
	int ret;

	if (remote_write(pid, memory, name, sizeof(name)) ||
	    remote_read(pid, memory, back, sizeof(back)) || strcmp(back, name))
		return trace_is_none(pid) ? -ESRCH : 3;
	fd = REMOTE_CALL(r, SYS_memfd_create, memory, 0);
	if (fd < 0)
		return judge(fd, 0, 4);
	ret = judge(REMOTE_CALL(r, SYS_close, fd), 0, 5);
	return ret ? ret : judge(REMOTE_CALL(r, SYS_close, fd), -EBADF, 6);
}

/* The calls of attach, without the kernel's windows. */
static int calls(struct remote *r, pid_t pid)
{
	int ret = judge(REMOTE_CALL(r, SYS_getpid, 0), pid, 1);
	long memory;

	if (ret)
		return ret;
	memory = REMOTE_CALL(r, SYS_mmap, 0, PAGE, PROT_READ | PROT_WRITE,
			     MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (memory < 0 && memory > -PAGE)
		return judge(memory, 0, 2);
	ret = use_memory(r, pid, memory);
	return ret ? ret : judge(REMOTE_CALL(r, SYS_munmap, memory, PAGE), 0,
				 7);
}

/*
 * A detached thread handles signals, and so sees what to restart. A thread that
 * continues while traced shows whether it was left in that state.
 */
static int go_on(pid_t tid)
{
	int ret;

	ptrace(PTRACE_CONT, tid, 0, 0);
	pause_us(200);
	ptrace(PTRACE_INTERRUPT, tid, 0, 0);
	ret = trace_settle(tid, trace_clock_ns() + 1000000000);
	return ret == -ESRCH ? 0 : ret;
}

/* Calls in one thread. Negative: -errno; positive: the step that failed. */
static int attach(const struct target *t, unsigned int which)
{
	struct threads threads;
	struct remote r;
	int ret, end;

	ret = threads_stop(&threads, t->pid);
	if (!ret)
		ret = remote_begin(&r, threads.tids[which % threads.nr],
				   t->code);
	if (!ret) {
		ret = calls(&r, t->pid);
		end = remote_end(&r);
		ret = end ? end : ret;
		if (!ret && which & 1)
			ret = go_on(r.tid);
	}
	threads_release(&threads);
	return ret;
}

static void rounds(const char *what, unsigned int nr, char *const argv[])
{
	struct target t = start(argv);
	unsigned int i, bad = 0;
	char *before, *after;
	int ret = 0, first = 0;
	char name[128];

	before = snapshot(t.pid);
	for (i = 0; i < nr; i++) {
		ret = attach(&t, i);
		first = first ? first : ret;
		bad += ret != 0;
		pause_us(random() % 1500);
	}
	after = snapshot(t.pid);
	snprintf(name, sizeof(name), "%s: %u rounds", what, nr);
	result(!bad, name, "%u failed, the first with %d", bad, first);
	snprintf(name, sizeof(name), "%s: mappings and files", what);
	result(!strcmp(before, after), name, "%s, then %s", before, after);
	free(before);
	free(after);
	stop(&t, what);
}

/* ---- A process that is stopped ---------------------------------------- */

static char state_of(pid_t pid)
{
	char path[64], line[256] = "";
	FILE *file;

	snprintf(path, sizeof(path), "/proc/%d/stat", pid);
	file = fopen(path, "re");
	MUST(file && fgets(line, sizeof(line), file));
	fclose(file);
	return strrchr(line, ')')[2];
}

static void wait_for_state(pid_t pid, char state)
{
	int i;

	for (i = 0; i < 1000 * HANGS_SECONDS && state_of(pid) != state; i++)
		pause_us(1000);
}

static void wait_for_another_state(pid_t pid, char state)
{
	int i;

	for (i = 0; i < 1000 * HANGS_SECONDS && state_of(pid) == state; i++)
		pause_us(1000);
}

static void stopped(void)
{
	char *argv[] = { "target", "sleep", "poll", NULL };
	struct target t = start(argv);
	int i, bad = 0;

	kill(t.pid, SIGSTOP);
	wait_for_state(t.pid, 'T');
	for (i = 0; i < 50; i++)
		bad += attach(&t, i) != 0;
	IS("a stopped process: rounds that failed", bad, 0);
	wait_for_state(t.pid, 'T');
	IS("a stopped process: still is", state_of(t.pid), 'T');
	kill(t.pid, SIGCONT);
	wait_for_another_state(t.pid, 'T');
	TRUE("a stopped process: goes on", state_of(t.pid) != 'T');
	stop(&t, "a stopped process");
}

#define PAIRS	20

/*
 * A process that sends pairs of signals at random times, at most PAIRS for each of
 * '*turns': on a busy machine nothing would get on between signals without end.
 */
static pid_t disturb(pid_t pid, int first, int second,
		     const volatile unsigned long *turns)
{
	pid_t child = fork();
	unsigned long sent = 0;

	MUST(child >= 0);
	if (child)
		return child;
	for (;;) {
		if (sent >= PAIRS * *turns) {
			pause_us(1000);
			continue;
		}
		kill(pid, first);
		pause_us(random() % 2000);
		kill(pid, second);
		pause_us(random() % 2000);
		sent++;
	}
}

static void stopped_meanwhile(void)
{
	char *argv[] = { "target", "sleep", "futex", "read", "write", NULL };
	struct target t = start(argv);
	volatile unsigned long *turns = mmap(NULL, PAGE, PROT_READ | PROT_WRITE,
					     MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	pid_t other;
	int i, bad = 0;

	MUST(turns != MAP_FAILED);
	other = disturb(t.pid, SIGSTOP, SIGCONT, turns);
	for (i = 0; i < 200; i++) {
		++*turns;
		bad += attach(&t, i) != 0;
		pause_us(random() % 1500);
	}
	kill(other, SIGKILL);
	waitpid(other, NULL, 0);
	munmap((void *)turns, PAGE);
	kill(t.pid, SIGCONT);
	IS("stopped and continued meanwhile: rounds that failed", bad, 0);
	stop(&t, "stopped and continued meanwhile");
}

/* ---- Processes that end ------------------------------------------------ */

static void killed(void)
{
	char *argv[] = { "target", NULL };
	struct target t;
	int i, j, ret, bad = 0;
	pid_t killer;

	/* The group leader never reports while other threads are traced. */
	slower = 1;
	for (i = 0; i < 50; i++) {
		t = start(argv);
		killer = fork();
		if (!killer) {
			pause_us(random() % 3000);
			kill(t.pid, i & 1 ? SIGKILL : SIGTERM);
			_exit(0);
		}
		for (j = 0, ret = 0; !ret || ret == -ETIMEDOUT; j++)
			ret = attach(&t, j);
		if (ret != -ESRCH)
			bad = ret;
		waitpid(killer, NULL, 0);
		/* As its tracer, this program may have reaped it before. */
		while (waitpid(t.pid, NULL, __WALL) == t.pid)
			;
		if (!kill(t.pid, 0))
			bad = 1000;
		close(t.in);
		fclose(t.out);
	}
	slower = HANGS_SECONDS;
	IS("killed meanwhile: another end than -ESRCH", bad, 0);
}

/* ---- What cannot be done ----------------------------------------------- */

/*
 * @there:	the child has reached its place, or is about to wait
 * @turns:	of its loop
 * @refused:	a call was refused
 */
struct child {
	bool there, refused;
	unsigned long turns;
};

static volatile struct child *child;

static struct target begin_child(void (*run)(void))
{
	struct target t;

	child = mmap(NULL, PAGE, PROT_READ | PROT_WRITE,
		     MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	MUST(child != MAP_FAILED);
	t = (struct target) { .pid = fork() };

	MUST(t.pid >= 0);
	if (!t.pid) {
		sigset_t none;

		not_the_test();
		sigemptyset(&none);
		sigprocmask(SIG_SETMASK, &none, NULL);
		run();
		_exit(0);
	}
	while (!child->there)
		pause_us(1000);
	t.code = find_call(t.pid);
	return t;
}

/* Waits for a full turn, after which earlier signals have arrived. */
static void wait_for_turn(void)
{
	unsigned long enough = child->turns + 2;

	while (child->turns < enough && !child->refused)
		pause_us(1000);
}

static void end_child(const struct target *t)
{
	kill(t->pid, SIGKILL);
	waitpid(t->pid, NULL, __WALL);
}

static void wait_in_vfork(void)
{
	child->there = true;
	if (!vfork()) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		for (;;)
			pause();
	}
}

static void in_vfork(void)
{
	struct target t = begin_child(wait_in_vfork);

	wait_for_state(t.pid, 'D');
	slower = 1;
	IS("in vfork()", attach(&t, 0), -ETIMEDOUT);
	slower = HANGS_SECONDS;
	end_child(&t);
}

static volatile char selector;

static void on_sigsys(int signal)
{
	child->refused = true;
	selector = SYSCALL_DISPATCH_FILTER_ALLOW;
}

static void dispatch(void)
{
	signal(SIGSYS, on_sigsys);
	if (prctl(PR_SET_SYSCALL_USER_DISPATCH, PR_SYS_DISPATCH_ON, 0, 0,
		  &selector))
		_exit(1);
	selector = SYSCALL_DISPATCH_FILTER_BLOCK;
	child->there = true;
	while (!child->refused)
		child->turns++;
	for (;;)
		pause();
}

static void dispatched(void)
{
	struct target t = begin_child(dispatch);

	IS("calls are dispatched to the program", attach(&t, 0), -ECONNREFUSED);
	wait_for_turn();
	TRUE("calls are dispatched: it has not seen one", !child->refused);
	end_child(&t);
}

/* A loop of one instruction, which a signal must interrupt only once. */
static volatile sig_atomic_t faults;

static void on_fault(int signal)
{
	faults++;
}

static void spin(void)
{
	signal(SIGSYS, on_fault);
	signal(SIGTRAP, on_fault);
	child->there = true;
	while (faults < 2)
		;
}

/* Signals that mean something to a tracer, sent by other processes. */
static void sent_by_others(void)
{
	struct target t = begin_child(spin);
	int status, bad = 0, i;

	for (i = 0; i < 20; i++)
		bad += attach(&t, 0) != 0;
	IS("spinning: rounds that failed", bad, 0);
	kill(t.pid, SIGSYS);
	IS("SIGSYS that was sent", attach(&t, 0), 0);
	kill(t.pid, SIGTRAP);
	IS("SIGTRAP that was sent", attach(&t, 0), 0);
	MUST(waitpid(t.pid, &status, 0) == t.pid);
	IS("each has come once", status, 0);
}

/* ---- A sleep ------------------------------------------------------------- */

/* The tracer may have the status. */
struct slept {
	uint64_t took;
	int ret;
};

static volatile struct slept *slept;
static time_t sleep_s;

static void sleep_once(void)
{
	const struct timespec wait = { .tv_sec = sleep_s };
	uint64_t since;

	slower = 1;
	since = trace_clock_ns();
	child->there = true;
	slept->ret = clock_nanosleep(CLOCK_MONOTONIC, 0, &wait, NULL);
	slept->took = trace_clock_ns() - since;
}

/*
 * If each stop restarted the sleep, it would never end. Returns the number of
 * attaches.
 */
static int attach_in_sleep(int *ret)
{
	struct target t;
	int nr = 0;

	slept->ret = -1;
	t = begin_child(sleep_once);
	while (!(*ret = attach(&t, 0)))
		nr++;
	end_child(&t);
	return nr;
}

static void asleep(void)
{
	int ret, nr;

	slept = mmap(NULL, PAGE, PROT_READ | PROT_WRITE,
		     MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	MUST(slept != MAP_FAILED);
	alarm(10 * HANGS_SECONDS);
	sleep_s = 1;
	while ((nr = attach_in_sleep(&ret)) < 10 && sleep_s < HANGS_SECONDS)
		sleep_s *= 2;
	alarm(0);
	IS("asleep: ends while it is attached to", ret, -ESRCH);
	result(nr >= 10, "asleep: was attached to again and again",
	       "%d times", nr);
	IS("asleep: its call has no error", slept->ret, 0);
	result(slept->took >= sleep_s * 1000000000ULL,
	       "asleep: not for less than its time", "%lu ns",
	       (unsigned long)slept->took);
}

int main(int argc, char **argv)
{
	unsigned int nr = argc > 1 ? atoi(argv[1]) : ROUNDS;
	char *all[] = { "target", NULL };
	char *sequences[] = { "target", "rseq", NULL };
	char *signals[] = { "target", "signal", "registers", NULL };
	sigset_t set;

	sigemptyset(&set);
	sigaddset(&set, SIGCHLD);
	sigprocmask(SIG_BLOCK, &set, NULL);
	signal(SIGCHLD, SIG_DFL);
	setvbuf(stdout, NULL, _IOLBF, 0);
	rounds("all", nr, all);
	rounds("restartable sequences", nr, sequences);
	rounds("signals", nr, signals);
	stopped();
	stopped_meanwhile();
	killed();
	in_vfork();
	dispatched();
	sent_by_others();
	asleep();
	return finish();
}
