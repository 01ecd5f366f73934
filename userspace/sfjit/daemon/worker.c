// SPDX-License-Identifier: MIT
// SPDX-FileCopyrightText: 2026 The sfjit authors
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <sfjit/packed.h>

#include "converter.h"
#include "worker.h"

/* From <linux/ioprio.h>, which is not installed before Linux 5.15. */
#define IOPRIO_WHO_PROCESS	1
#define IOPRIO_IDLE		(3 << 13)

#define SHARED_MOST	(1UL << 30)	/* bytes of the tables of a file */

/* ---- In the worker ----------------------------------------------------- */

struct work {
	const struct worker_orders *orders;
	int socket;
	struct table_of file;
	struct converted *out;
	size_t size;
	/* Read once from there, and checked. */
	struct converted is;
};

static _Noreturn void end_with(const struct work *work,
			       const struct worker_news *news)
{
	send(work->socket, news, sizeof(*news), MSG_NOSIGNAL);
	_exit(0);
}

static _Noreturn void end_at(const struct work *work, enum worker_step step,
			     int error)
{
	end_with(work, &(struct worker_news){ .step = step, .error = error });
}

/*
 * The kernel kills the converter before it kills others for lack of memory. With
 * SCHED_IDLE it would not end for minutes while others take all CPU time.
 */
static void be_modest(void)
{
	int fd = open("/proc/self/oom_score_adj", O_WRONLY | O_CLOEXEC);

	setpriority(PRIO_PROCESS, 0, 19);
	syscall(SYS_ioprio_set, IOPRIO_WHO_PROCESS, 0, IOPRIO_IDLE);
	if (fd < 0)
		return;
	dprintf(fd, "1000");
	close(fd);
}

static pid_t start_converter(const struct work *work)
{
	const struct worker_orders *orders = work->orders;
	pid_t child = fork();

	if (child)
		return child;
	be_modest();
	converter_run(work->file.fd, orders->mapping->path, work->out, work->size,
		      orders->seconds);
}

/* While other programs use all CPU time, the converter waits for some. */
static bool wait_for(pid_t child, int pidfd, int seconds)
{
	struct pollfd end = { .fd = pidfd, .events = POLLIN };

	while (!poll(&end, 1, seconds * 1000))
		if (worker_is_blocked(child))
			return false;
	return true;
}

/* The status of waitpid(), or -1: it took too long. */
static int await_converter(const struct work *work, pid_t child)
{
	int pidfd = syscall(SYS_pidfd_open, child, 0), status;

	if (pidfd < 0 || !wait_for(child, pidfd, work->orders->seconds)) {
		kill(child, SIGKILL);
		return -1;
	}
	return waitpid(child, &status, 0) == child ? status : -1;
}

static enum worker_step judge(int status)
{
	if (status < 0)
		return WORKER_LATE;
	if (!WIFEXITED(status))
		return WORKER_DIED;
	return WEXITSTATUS(status) == CONVERTED ? WORKER_HAS_TABLES :
	       WEXITSTATUS(status) == CONVERTER_SKIPS ? WORKER_SKIPS :
							WORKER_FAILED;
}

static void map_memory(struct work *work)
{
	size_t most = work->orders->most;

	work->size = sizeof(*work->out) + SFRAME_PACKED_ALIGN * TABLES_MOST +
		     (most < SHARED_MOST ? most : SHARED_MOST);
	work->out = mmap(NULL, work->size, PROT_READ | PROT_WRITE, MAP_SHARED |
			 MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	if (work->out == MAP_FAILED)
		end_at(work, WORKER_FAILED, errno);
}

static void convert(struct work *work)
{
	enum worker_step step;
	pid_t child;

	map_memory(work);
	child = start_converter(work);
	if (child < 0)
		end_at(work, WORKER_FAILED, errno);
	step = judge(await_converter(work, child));
	if (step != WORKER_HAS_TABLES)
		end_at(work, step, 0);
}

/* The converter is hostile if the file is. The kernel checks each table. */
static uint64_t check_tables(struct work *work)
{
	struct converted *is = &work->is;
	uint64_t bytes = 0;
	unsigned int i;

	memcpy(is, work->out, sizeof(*is));
	if (is->nr > TABLES_MOST)
		end_at(work, WORKER_DIED, 0);
	for (i = 0; i < is->nr; i++) {
		if (is->tables[i].offset % SFRAME_PACKED_ALIGN ||
		    is->tables[i].offset > work->size ||
		    is->tables[i].length > work->size - is->tables[i].offset)
			end_at(work, WORKER_DIED, 0);
		bytes += is->tables[i].length;
	}
	return bytes;
}

/* A file that was written to just now has to grow older than a clock tick. */
static int add_table(const struct work *work, unsigned int i)
{
	const struct timespec tick = { .tv_nsec = 10000000 };
	unsigned int tries = 5;
	int id;

	do
		id = file_tables_add(work->orders->tables, &work->file,
				     (char *)work->out +
				     work->is.tables[i].offset,
				     work->is.tables[i].length,
				     work->is.tables[i].bias);
	while (id == -EAGAIN && --tries && !nanosleep(&tick, NULL));
	return id;
}

static void add_tables(struct work *work, struct worker_news *news)
{
	unsigned int i;
	int id;

	for (i = 0; i < work->is.nr; i++) {
		id = add_table(work, i);
		if (id > 0) {
			news->ids[news->nr++] = id;
			news->bytes += work->is.tables[i].length;
		} else if (!news->error) {
			news->error = -id;
		}
	}
}

static void ask_for_room(const struct work *work, uint64_t bytes)
{
	const struct worker_news news = {
		.step = WORKER_HAS_TABLES, .bytes = bytes,
	};
	char go;

	send(work->socket, &news, sizeof(news), MSG_NOSIGNAL);
	if (recv(work->socket, &go, 1, 0) != 1)
		_exit(1);
}

static void open_file(struct work *work)
{
	int fd = sfjit_stacks_open(work->orders->pid, work->orders->mapping);
	struct stat st;

	if (fd < 0)
		end_at(work, WORKER_NO_FILE, -fd);
	if (fstat(fd, &st))
		end_at(work, WORKER_NO_FILE, errno);
	work->file.fd = fd;
	work->file.ctime = st.st_ctim;
}

static _Noreturn void do_work(struct work *work)
{
	const struct worker_orders *orders = work->orders;
	struct worker_news news = { .step = WORKER_OPENED };

	open_file(work);
	send(work->socket, &news, sizeof(news), MSG_NOSIGNAL);
	convert(work);
	ask_for_room(work, check_tables(work));
	news.step = WORKER_ADDED;
	add_tables(work, &news);
	/* If closing the file blocks, this must not keep the tables. */
	close(orders->tables);
	end_with(work, &news);
}

/* Standard error is also where the converter's reasons go. */
static void be_silent(void)
{
	int null = open("/dev/null", O_WRONLY | O_CLOEXEC);

	if (null >= 0)
		dup2(null, STDERR_FILENO);
}

static _Noreturn void be_worker(const struct worker_orders *orders, int socket)
{
	struct work work = { .orders = orders, .socket = socket };
	pid_t parent = getppid();

	prctl(PR_SET_PDEATHSIG, SIGKILL);
	if (getppid() != parent)
		_exit(1);
	if (!orders->verbose)
		be_silent();
	do_work(&work);
}

/* ---- In the daemon ----------------------------------------------------- */

int worker_start(struct worker *worker, const struct worker_orders *orders)
{
	int ends[2];

	if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends))
		return -errno;
	worker->pid = fork();
	if (!worker->pid) {
		close(ends[0]);
		be_worker(orders, ends[1]);
	}
	close(ends[1]);
	worker->socket = ends[0];
	if (worker->pid > 0)
		return 0;
	close(ends[0]);
	worker->socket = -1;
	return -errno;
}

void worker_hear(const struct worker *worker, struct worker_news *news)
{
	if (recv(worker->socket, news, sizeof(*news), MSG_DONTWAIT) !=
	    sizeof(*news))
		*news = (struct worker_news){ .step = WORKER_DIED };
}

void worker_go(const struct worker *worker)
{
	send(worker->socket, "", 1, MSG_NOSIGNAL);
}

/* It may be in close() for ever, so nothing waits for it. */
void worker_end(struct worker *worker)
{
	kill(worker->pid, SIGKILL);
	close(worker->socket);
	worker->socket = -1;
}

bool worker_is_blocked(pid_t pid)
{
	char path[32], state = 'X';
	FILE *file;

	snprintf(path, sizeof(path), "/proc/%d/stat", pid);
	file = fopen(path, "re");
	/* The name is that of this program. */
	if (file && fscanf(file, "%*d (%*[^)]) %c", &state) != 1)
		state = 'X';
	if (file)
		fclose(file);
	return state != 'R';
}
