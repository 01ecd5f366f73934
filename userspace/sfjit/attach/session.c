// SPDX-License-Identifier: MIT
// SPDX-FileCopyrightText: 2026 The sfjit authors
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/pidfd.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <sfjit/device.h>
#include <sfjit/sframe.h>

#include "ps.h"
#include "refusal.h"
#include "remote.h"
#include "session.h"
#include "threads.h"
#include "trace.h"
#include "util.h"

#define NAME	"sfjit-attach"

/* From <linux/memfd.h>, Linux 6.3, and <linux/mman.h>, 6.13. */
#ifndef MFD_NOEXEC_SEAL
#define MFD_NOEXEC_SEAL	0x0008U
#endif
#ifndef MADV_GUARD_INSTALL
#define MADV_GUARD_INSTALL	102
#endif

/* Arguments of a registration, written to the memory of the process. */
struct request {
	uint64_t offset, length;	/* of the table in its memory */
	struct sframe_window_opts opts;
};

struct session {
	pid_t pid;
	int node, pidfd;	/* -1 where the process registers */
	struct threads threads;
	struct remote remote;
	struct ps_process now;	/* current windows and mappings */
	struct request *requests;
	size_t nr, done;	/* windows to register, and registered */
	size_t bytes;		/* of tables */
	uint64_t scratch, scratch_length;
	uint64_t memory;	/* of the tables; 0: not mapped */
	const char *failed;	/* the step that failed */
};

static uint64_t pages(uint64_t length)
{
	uint64_t page = sysconf(_SC_PAGESIZE);

	return (length + page - 1) & -page;
}

static int read_process(struct session *s)
{
	char dir[64];
	FILE *file;
	int ret;

	ps_free(&s->now);
	snprintf(dir, sizeof(dir), "/proc/%d", s->pid);
	file = ps_open_sframe(dir);
	if (!file)
		return errno == ENOENT ? -ESRCH : -errno;
	ret = ps_read_sframe(&s->now, file);
	fclose(file);
	return ret ? ret : ps_read_maps(&s->now.maps, dir);
}

static bool is_ours(const struct session *s, const struct ps_window *w)
{
	const struct ps_map *map = ps_find_map(&s->now.maps, w->section);

	return map && !strcmp(map->name, SESSION_MEMORY);
}

/* ---- Calls in the process ---------------------------------------------- */

/* Like errno: negative numbers down to -4095 are errors. */
static long checked(struct session *s, const char *what, long ret)
{
	if (ret < 0 && ret > -4096) {
		s->failed = what;
		return ret;
	}
	return 0;
}

static int map_scratch(struct session *s, size_t length)
{
	long ret = REMOTE_CALL(&s->remote, SYS_mmap, 0, length,
			       PROT_READ | PROT_WRITE,
			       MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (checked(s, "mmap()", ret))
		return ret;
	s->scratch = ret;
	s->scratch_length = length;
	return 0;
}

static void unmap_scratch(struct session *s)
{
	if (s->scratch)
		REMOTE_CALL(&s->remote, SYS_munmap, s->scratch,
			    s->scratch_length);
	s->scratch = 0;
}

/* ---- Windows ----------------------------------------------------------- */

/*
 * Through the node of the module we register for the process: our rights count,
 * not its own. A kernel with the series has none, and a file of this name is none
 * of ours. O_NONBLOCK: it must not block while the process is stopped.
 */
static void open_device(struct session *s)
{
	s->node = open(SFJIT_DEVICE, O_RDONLY | O_CLOEXEC | O_NONBLOCK |
		       O_NOCTTY);
	if (s->node < 0)
		return;
	if (ioctl(s->node, SFJIT_IOC_QUERY, PR_SFRAME_QUERY_FLAGS) < 0 &&
	    errno == ENOTTY) {
		close(s->node);
		s->node = -1;
		return;
	}
	s->pidfd = pidfd_open(s->pid, 0);
}

static void close_device(struct session *s)
{
	if (s->node >= 0)
		close(s->node);
	if (s->pidfd >= 0)
		close(s->pidfd);
}

static long ask_device(struct session *s, unsigned long call,
		       struct sfjit_request *request)
{
	request->pidfd = s->pidfd;
	request->flags = SFJIT_REQUEST_PIDFD;
	return ioctl(s->node, call, request) ? -errno : 0;
}

static long register_window(struct session *s, struct request *r, uint64_t at)
{
	struct sfjit_request request = {
		.key = r->opts.text_start, .address = at, .length = r->length,
		.opts = (uintptr_t)&r->opts,
	};
	int ret;

	if (s->node >= 0)
		return ask_device(s, SFJIT_IOC_REGISTER, &request);
	ret = remote_write(s->pid, s->scratch, &r->opts, sizeof(r->opts));
	return ret ? ret :
	       REMOTE_CALL(&s->remote, SYS_prctl, PR_SFRAME_REGISTER,
			   r->opts.text_start, at, r->length, s->scratch);
}

static long unregister_window(struct session *s, uint64_t key)
{
	struct sfjit_request request = { .key = key };

	if (s->node >= 0)
		return ask_device(s, SFJIT_IOC_UNREGISTER, &request);
	return REMOTE_CALL(&s->remote, SYS_prctl, PR_SFRAME_UNREGISTER, key);
}

static const char *why_not_taken(const struct session *s, long ret)
{
	if (ret == -EPERM && s->node >= 0)
		return "you may not write to " SFJIT_DEVICE
		       ", see sfjit doctor";
	return ret == -ENOSPC ? "vm.max_sframe_windows" :
	       "cannot register a window";
}

static int remove_windows(struct session *s, struct outcome *outcome)
{
	const struct ps_window *w = s->now.windows;
	const struct ps_window *end = w + s->now.nr_windows;
	long ret;

	for (; w < end; w++) {
		if (!is_ours(s, w))
			continue;
		ret = unregister_window(s, w->key);
		if (checked(s, "cannot unregister a window", ret))
			return ret;
		outcome->removed++;
	}
	return 0;
}

static int unmap_memory(struct session *s)
{
	const struct ps_map *map = s->now.maps.maps;
	const struct ps_map *end = map + s->now.maps.nr;
	long ret;

	for (; map < end; map++) {
		if (strcmp(map->name, SESSION_MEMORY))
			continue;
		ret = REMOTE_CALL(&s->remote, SYS_munmap, map->start,
				  map->end - map->start);
		if (checked(s, "munmap()", ret))
			return ret;
	}
	return 0;
}

static int remove_attached(struct session *s, struct outcome *outcome)
{
	int ret = remove_windows(s, outcome);

	return ret ? ret : unmap_memory(s);
}

/* Opens the file of the process here; -1 with errno. */
static int get_file(pid_t pid, int fd)
{
	int process = pidfd_open(pid, 0), got;

	if (process < 0)
		return -1;
	got = pidfd_getfd(process, fd, 0);
	close(process);
	return got;
}

static bool write_all(int fd, const char *from, size_t length, uint64_t at)
{
	ssize_t n;

	while (length) {
		n = pwrite(fd, from, length, at);
		if (n <= 0)
			return false;
		from += n;
		length -= n;
		at += n;
	}
	return true;
}

/* Each module's table starts on a page. */
static bool write_tables(const struct plan *plan, int fd)
{
	const struct planned *m;
	uint64_t at = 0;

	for (m = plan->modules; m < plan->modules + plan->nr; m++) {
		if (!m->table.nr_windows)
			continue;
		/* EFAULT if the cache file of a table was truncated. */
		if (!write_all(fd, m->table.data, m->table.length, at))
			return false;
		at += pages(m->table.length);
	}
	return !ftruncate(fd, at);
}

static int fill_file(struct session *s, const struct plan *plan, int there)
{
	int fd = get_file(s->pid, there), ret = 0;

	s->failed = "cannot copy the tables";
	if (fd < 0)
		return -errno;
	if (!write_tables(plan, fd))
		ret = -errno;
	close(fd);
	return ret;
}

/* A write by ptrace gives the process a private page. */
static int write_one(struct session *s)
{
	long word, ret;

	errno = 0;
	word = ptrace(PTRACE_PEEKDATA, s->pid, s->memory, 0);
	if (errno)
		return -errno;
	ret = ptrace(PTRACE_POKEDATA, s->pid, s->memory, word);
	return ret ? -errno : 0;
}

/*
 * Populate the pages, so that a forked child has them too: see table_map() of
 * the module. The page after the file is a guard.
 */
static int map_file(struct session *s, int fd)
{
	uint64_t page = pages(1);
	long ret = REMOTE_CALL(&s->remote, SYS_mmap, 0, s->bytes + page,
			       PROT_READ, MAP_PRIVATE | MAP_POPULATE, fd, 0);

	if (checked(s, "mmap()", ret))
		return ret;
	s->memory = ret;
	ret = REMOTE_CALL(&s->remote, SYS_madvise, s->memory + s->bytes, page,
			  MADV_GUARD_INSTALL);
	if (ret == -EINVAL)
		ret = write_one(s);
	return checked(s, "madvise()", ret);
}

/* Linux logs a line of programs without the flag, and before 6.3 refuses it. */
static long create_file(struct session *s)
{
	long fd = REMOTE_CALL(&s->remote, SYS_memfd_create, s->scratch,
			      MFD_CLOEXEC | MFD_NOEXEC_SEAL);

	return fd != -EINVAL ? fd :
	       REMOTE_CALL(&s->remote, SYS_memfd_create, s->scratch,
			   MFD_CLOEXEC);
}

static int map_tables(struct session *s, const struct plan *plan)
{
	int ret = remote_write(s->pid, s->scratch, NAME, sizeof(NAME));
	long fd;

	if (ret)
		return ret;
	fd = create_file(s);
	if (checked(s, "memfd_create()", fd))
		return fd;
	ret = fill_file(s, plan, fd);
	if (!ret)
		ret = map_file(s, fd);
	REMOTE_CALL(&s->remote, SYS_close, fd);
	return ret;
}

/* A window that another registered since the last check stays. */
static int register_all(struct session *s, struct outcome *outcome)
{
	struct request *r;
	long ret;

	for (; s->done < s->nr; s->done++) {
		r = &s->requests[s->done];
		ret = register_window(s, r, s->memory + r->offset);
		if (checked(s, why_not_taken(s, ret), ret))
			return ret;
		outcome->added++;
	}
	return 0;
}

static void roll_back(struct session *s)
{
	while (s->done)
		unregister_window(s, s->requests[--s->done].opts.text_start);
	if (s->memory)
		REMOTE_CALL(&s->remote, SYS_munmap, s->memory,
			    s->bytes + pages(1));
}

/* ---- Stopping ---------------------------------------------------------- */

/*
 * A filter could kill the process for our calls. Suspend it, which only root
 * may do.
 */
static int pass_filter(pid_t tid)
{
	if (!refusal_has_filter(tid))
		return 0;
	return ptrace(PTRACE_SETOPTIONS, tid, 0, PTRACE_O_TRACESYSGOOD |
		      PTRACE_O_SUSPEND_SECCOMP) ? -EACCES : 0;
}

/*
 * With all signals blocked, only SIGKILL ends sfjit before the threads
 * continue.
 */
static int stop_process(struct session *s, sigset_t *old)
{
	sigset_t all;
	int ret;

	sigfillset(&all);
	sigprocmask(SIG_BLOCK, &all, old);
	ret = threads_stop(&s->threads, s->pid);
	if (ret)
		return ret;
	open_device(s);
	return read_process(s);
}

static int enter_thread(struct session *s, uint64_t code)
{
	int ret = pass_filter(s->threads.tids[0]);

	if (!code) {
		s->failed = "no system call instruction found in its code";
		return -ENOENT;
	}
	return ret ? ret : remote_begin(&s->remote, s->threads.tids[0], code);
}

static void resume_process(struct session *s, const sigset_t *old,
			   struct outcome *outcome)
{
	threads_release(&s->threads);
	outcome->stopped_ns = trace_clock_ns() - s->threads.since;
	sigprocmask(SIG_SETMASK, old, NULL);
	ps_free(&s->now);
	free(s->requests);
	close_device(s);
}

static int explain(const struct session *s, int error)
{
	/*
	 * Other messages imply that nothing has changed; here that is unknown.
	 */
	if (s->remote.lost)
		return refusal_print(s->pid, "did not run for a second. If it is "
				     "frozen, thaw it and run sfjit detach");
	if (!s->failed || error == -ESRCH || error == -ETIMEDOUT ||
	    error == -ECONNREFUSED)
		return refusal_explain(s->pid, error);
	if (error == -ENOENT)
		return refusal_print(s->pid, "%s", s->failed);
	return refusal_print(s->pid, "%s: %s", s->failed, strerror(-error));
}

/* ---- Attach ------------------------------------------------------------ */

static bool is_covered(const struct session *s, uint64_t start, uint64_t end)
{
	const struct ps_window *w = s->now.windows;

	for (; w < s->now.windows + s->now.nr_windows; w++)
		if (start < w->end && w->start < end && !is_ours(s, w))
			return true;
	return false;
}

static void add_request(struct session *s, const struct planned *m,
			const struct window *w)
{
	s->requests[s->nr++] = (struct request) {
		.offset = s->bytes, .length = m->table.length,
		.opts = {
			.size = sizeof(struct sframe_window_opts),
			.text_start = m->bias + w->start,
			.text_length = w->length,
			.text_bias = m->bias,
			.format = SFRAME_FORMAT_PACKED,
		},
	};
}

static void make_requests(struct session *s, const struct plan *plan,
			  struct outcome *outcome)
{
	const struct window *w, *end;
	const struct planned *m;
	size_t nr = 1;

	for (m = plan->modules; m < plan->modules + plan->nr; m++)
		nr += m->table.nr_windows;
	s->requests = check_alloc(calloc(nr, sizeof(*s->requests)));
	for (m = plan->modules; m < plan->modules + plan->nr; m++) {
		if (!m->table.nr_windows)
			continue;
		w = table_windows(&m->table);
		for (end = w + m->table.nr_windows; w < end; w++)
			if (is_covered(s, m->bias + w->start, m->bias +
				       w->start + w->length))
				outcome->others++;
			else
				add_request(s, m, w);
		s->bytes += pages(m->table.length);
	}
	outcome->bytes = s->bytes;
}

static int add_windows(struct session *s, const struct plan *plan,
		       struct outcome *outcome)
{
	int ret = remove_attached(s, outcome);

	if (ret || !s->nr)
		return ret;
	ret = map_scratch(s, pages(1));
	if (!ret)
		ret = map_tables(s, plan);
	if (!ret)
		ret = register_all(s, outcome);
	if (ret)
		roll_back(s);
	unmap_scratch(s);
	return ret;
}

static int do_attach(struct session *s, const struct plan *plan,
		     struct outcome *outcome)
{
	int ret, last;

	if (!plan_is_current(plan, &s->now.maps))
		return -ESTALE;
	make_requests(s, plan, outcome);
	ret = enter_thread(s, plan->code);
	if (!ret)
		ret = add_windows(s, plan, outcome);
	last = remote_end(&s->remote);
	return ret ? ret : last;
}

int session_attach(const struct plan *plan, struct outcome *outcome)
{
	struct session s = { .pid = plan->pid, .node = -1, .pidfd = -1 };
	sigset_t old;
	int ret;

	*outcome = (struct outcome) { .added = 0 };
	ret = stop_process(&s, &old);
	if (!ret)
		ret = do_attach(&s, plan, outcome);
	resume_process(&s, &old, outcome);
	return ret && ret != -ESTALE ? explain(&s, ret) : ret;
}

/* ---- Detach ------------------------------------------------------------ */

static bool has_memory(const struct session *s)
{
	size_t i;

	for (i = 0; i < s->now.maps.nr; i++)
		if (!strcmp(s->now.maps.maps[i].name, SESSION_MEMORY))
			return true;
	return false;
}

static int do_detach(struct session *s, struct outcome *outcome)
{
	int ret, last;

	if (!has_memory(s)) {
		s->failed = "nothing is attached";
		return -ENOENT;
	}
	ret = enter_thread(s, plan_find_call(s->pid, &s->now.maps));
	if (!ret)
		ret = remove_attached(s, outcome);
	last = remote_end(&s->remote);
	return ret ? ret : last;
}

int session_detach(pid_t pid, struct outcome *outcome)
{
	struct session s = { .pid = pid, .node = -1, .pidfd = -1 };
	sigset_t old;
	int ret;

	*outcome = (struct outcome) { .added = 0 };
	ret = stop_process(&s, &old);
	if (!ret)
		ret = do_detach(&s, outcome);
	resume_process(&s, &old, outcome);
	return ret ? explain(&s, ret) : 0;
}
