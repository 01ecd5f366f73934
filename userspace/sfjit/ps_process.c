// SPDX-License-Identifier: MIT
// SPDX-FileCopyrightText: 2026 The sfjit authors
/* Reads what belongs to one process, which may change or end meanwhile. */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <linux/openat2.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "ps.h"
#include "util.h"

#define TRIES	3	/* a process that goes through several execs */
#define MOST_BYTES	(256L << 20)	/* of /tmp/perf-PID.map */

/*
 * /proc/PID/sframe: a line for each window, then "windows N BYTES", "REASON N" for
 * each reason, and "last REASON ADDRESS". Further words of a line are left for
 * later kernels.
 */

static int add_read_window(struct ps_process *process,
			   const struct ps_window *window)
{
	size_t nr = process->nr_windows;

	if (nr == PS_MOST)
		return -E2BIG;
	check_grow(&process->windows, &process->max_windows, nr,
		   sizeof(*window));
	process->windows[process->nr_windows++] = *window;
	return 0;
}

bool ps_parse_end(struct ps_ends *ends, const char *line)
{
	struct ps_count count;

	if (sscanf(line, "last %31s %" SCNx64, ends->last_reason,
		   &ends->last_ip) == 2)
		return true;
	if (ends->nr_counts == PS_REASONS ||
	    sscanf(line, "%31[a-z_]%*1[ ]%" SCNu64, count.reason,
		   &count.count) != 2)
		return false;
	ends->counts[ends->nr_counts++] = count;
	return true;
}

static int parse_sframe_line(struct ps_process *process, const char *line)
{
	struct ps_window window = { };

	if (sscanf(line, "%" SCNx64 "-%" SCNx64 " %" SCNx64 " %" SCNx64
		   " %" SCNx64 " %31s", &window.start, &window.end, &window.key,
		   &window.section, &window.length, window.flags) == 6)
		return add_read_window(process, &window);
	if (!strncmp(line, "windows ", 8))
		return 0;
	return ps_parse_end(&process->ends, line) ? 0 : -EPROTO;
}

/* The last line tells a whole file from one whose process ended meanwhile. */
int ps_read_sframe(struct ps_process *process, FILE *file)
{
	char *line = NULL;
	size_t size = 0;
	int ret = 0;

	while (!ret && getline(&line, &size, file) > 0)
		ret = parse_sframe_line(process, line);
	free(line);
	if (!ret && ferror(file))
		ret = -errno;
	if (!ret && !*process->ends.last_reason)
		ret = -ENODATA;
	return ret;
}

uint64_t ps_refused(const struct ps_ends *ends)
{
	uint64_t sum = 0;
	unsigned int i;

	for (i = 0; i < ends->nr_counts; i++)
		sum += ends->counts[i].count;
	return sum;
}

/*
 * Opens /tmp/perf-PID.map of a process. Every user can create a file of any
 * type there. In namespaces of its own the process can mount a file system that
 * it serves itself (FUSE, or an overlay of it). Each access may then block for
 * ever in a state that no signal ends, also fstatfs() and exit with an open
 * file. A child does all that, and is abandoned if it does not answer.
 */

/* What the child looks for, and the parent's end of it. */
struct feed {
	const char *dir;
	char name[32];
	long bytes;
	int fd;
	pid_t child;
	struct timespec end;
};

/* The number that the process has in its own namespace. */
static pid_t own_pid(const char *dir, pid_t pid)
{
	FILE *file = ps_open(dir, "status");
	/* 33 numbers: namespaces are nested up to 32 deep. */
	char line[512], *last;

	if (!file)
		return pid;
	while (fgets(line, sizeof(line), file)) {
		if (strncmp(line, "NStgid:", 7))
			continue;
		last = strrchr(line, '\t');
		pid = last ? atoi(last) : pid;
	}
	fclose(file);
	return pid;
}

/* ---- The child ------------------------------------------------------- */

static int open_in_root(int dir, const char *path, int flags, int resolve)
{
	struct open_how how = {
		.flags = O_PATH | O_CLOEXEC | flags,
		.resolve = resolve,
	};

	return syscall(SYS_openat2, dir, path, &how, sizeof(how));
}

/* O_PATH: to open a device has effects, such as rewinding a tape. */
static int find_map(const struct feed *feed)
{
	int fd = open(feed->dir, O_PATH | O_DIRECTORY | O_CLOEXEC);

	fd = openat(fd, "root", O_PATH | O_DIRECTORY | O_CLOEXEC);
	/* Symbolic links are resolved as the process would resolve them. */
	fd = open_in_root(fd, "/tmp", O_DIRECTORY, RESOLVE_IN_ROOT);
	/* A file of root's may be mounted there: /proc/kmsg, for one. */
	return open_in_root(fd, feed->name, O_NOFOLLOW, RESOLVE_NO_XDEV);
}

/* As perf: a map of the user, of root, or of the process's user. */
static bool is_trusted(int fd, const char *dir)
{
	struct stat map, process;

	/* A second name would be that of another's file, or of many maps. */
	if (fstat(fd, &map) || !S_ISREG(map.st_mode) || map.st_nlink != 1)
		return false;
	if (stat(dir, &process))
		return false;
	return !map.st_uid || map.st_uid == geteuid() ||
	       map.st_uid == process.st_uid;
}

static int open_map(const struct feed *feed)
{
	char path[sizeof("/proc/self/fd/") + 3 * sizeof(int)];
	int fd = find_map(feed);

	if (fd < 0 || !is_trusted(fd, feed->dir))
		return -1;
	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	/* Without O_NONBLOCK, a lease that the owner holds would block it. */
	return open(path, O_RDONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
}

static bool feed_bytes(int fd, const char *bytes, size_t length)
{
	ssize_t done;

	for (; length; bytes += done, length -= done) {
		done = write(fd, bytes, length);
		if (done <= 0)
			return false;
	}
	return true;
}

static void feed_file(int from, int to, long bytes)
{
	char chunk[16384];
	ssize_t got, text;

	for (; bytes > 0; bytes -= got) {
		got = read(from, chunk, sizeof(chunk));
		if (got <= 0)
			return;
		/* Holes are zeros, and a file may have terabytes of them. */
		text = strnlen(chunk, got);
		if (!feed_bytes(to, chunk, text) || text < got)
			return;
	}
}

static _Noreturn void be_child(const struct feed *feed, int out)
{
	int fd;

	/* A child that blocks must not hold our output open. */
	dup2(out, STDIN_FILENO);
	syscall(SYS_close_range, STDIN_FILENO + 1, ~0U, 0);
	fd = open_map(feed);
	if (fd >= 0)
		feed_file(fd, STDIN_FILENO, feed->bytes);
	_exit(0);
}

/* ---- The parent ------------------------------------------------------ */

static int ms_left(const struct feed *feed)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (feed->end.tv_sec - now.tv_sec) * 1000 +
	       (feed->end.tv_nsec - now.tv_nsec) / 1000000;
}

static ssize_t feed_read(void *cookie, char *buffer, size_t size)
{
	struct feed *feed = cookie;
	struct pollfd pollfd = { .fd = feed->fd, .events = POLLIN };
	int ms = ms_left(feed);

	if (ms > 0 && poll(&pollfd, 1, ms) == 1)
		return read(feed->fd, buffer, size);
	errno = ETIMEDOUT;
	return -1;
}

/* init will reap a child that cannot be killed now. */
static int feed_close(void *cookie)
{
	struct feed *feed = cookie;

	close(feed->fd);
	kill(feed->child, SIGKILL);
	waitpid(feed->child, NULL, WNOHANG);
	free(feed);
	return 0;
}

static int start_child(struct feed *feed)
{
	int ends[2];

	if (pipe2(ends, O_CLOEXEC))
		return -1;
	feed->child = fork();
	if (!feed->child)
		be_child(feed, ends[1]);
	close(ends[1]);
	feed->fd = ends[0];
	if (feed->child < 0)
		close(ends[0]);
	return feed->child < 0 ? -1 : 0;
}

/*
 * The perf map of the process, up to so many bytes or to the first that is no
 * text. A read fails with ETIMEDOUT after 'ms'. NULL with errno.
 */
static FILE *open_perf_map(const char *dir, pid_t pid, long bytes, int ms)
{
	static const cookie_io_functions_t functions = {
		.read = feed_read,
		.close = feed_close,
	};
	struct feed *feed = check_alloc(calloc(1, sizeof(*feed)));

	feed->dir = dir;
	feed->bytes = bytes;
	snprintf(feed->name, sizeof(feed->name), "perf-%d.map",
		 own_pid(dir, pid));
	clock_gettime(CLOCK_MONOTONIC, &feed->end);
	feed->end.tv_sec += ms / 1000;
	feed->end.tv_nsec += ms % 1000 * 1000000L;
	if (start_child(feed)) {
		free(feed);
		return NULL;
	}
	return check_alloc(fopencookie(feed, "r", functions));
}

/* /tmp/perf-PID.map of the process: names of code that is in no file. */

static int compare_window(const void *key, const void *member)
{
	const struct ps_window *window = member;
	uint64_t address = *(const uint64_t *)key;

	return address < window->start ? -1 : address >= window->end;
}

static void add_symbol(struct ps_process *process, struct ps_window *window,
		       const char *name)
{
	if (!window->symbol)
		window->symbol = ps_keep_name(name, &process->symbol_bytes);
	window->symbols += !!window->symbol;
}

/* "start size name", both hex. */
static void take_symbol(struct ps_process *process, const char *line)
{
	struct ps_window *window;
	uint64_t start;
	int name = 0;

	if (sscanf(line, "%" SCNx64 " %*x %n", &start, &name) != 1 || !name ||
	    !line[name])
		return;
	window = bsearch(&start, process->windows, process->nr_windows,
			 sizeof(*window), compare_window);
	if (window)
		add_symbol(process, window, line + name);
}

/* Cut lines that are too long. */
static void take_lines(struct ps_process *process, FILE *file)
{
	bool begins = true, ends;
	char line[4096];

	while (fgets(line, sizeof(line), file)) {
		ends = strchr(line, '\n');
		line[strcspn(line, "\n")] = '\0';
		if (begins)
			take_symbol(process, line);
		begins = ends;
	}
}

static int64_t now_ms(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return now.tv_sec * INT64_C(1000) + now.tv_nsec / 1000000;
}

static void read_map_symbols(struct ps_process *process, const char *dir,
			     struct ps_request *request)
{
	int ms = request->map_ms < request->all_ms ? request->map_ms :
						     request->all_ms;
	int64_t start = now_ms();
	FILE *file;

	/* Many processes may each have a map that takes as long as it may. */
	if (ms <= 0) {
		request->late = true;
		return;
	}
	file = open_perf_map(dir, process->pid, MOST_BYTES, ms);
	if (!file)
		return;
	take_lines(process, file);
	request->late |= ferror(file) != 0;
	fclose(file);
	request->all_ms -= now_ms() - start;
}

static void read_command(struct ps_process *process, const char *dir)
{
	FILE *file = ps_open(dir, "comm");

	if (!file)
		return;
	if (fgets(process->command, sizeof(process->command), file))
		process->command[strcspn(process->command, "\n")] = '\0';
	fclose(file);
}

static void find_maps(struct ps_process *process)
{
	struct ps_window *window = process->windows;
	struct ps_window *end = window + process->nr_windows;

	for (; window < end; window++) {
		window->text_in = ps_find_map(&process->maps, window->start);
		window->section_in = ps_find_map(&process->maps,
						 window->section);
	}
}

/* End of file: the address space for which it was opened is gone. */
static bool is_gone(FILE *file)
{
	char byte;

	return pread(fileno(file), &byte, 1, 0) != 1;
}

static bool wants_maps(const struct ps_process *process, enum ps_detail detail)
{
	return detail == PS_WHOLE ||
	       (detail == PS_IF_WINDOWS && process->nr_windows);
}

/*
 * maps is opened after sframe was read, and might be that of another program;
 * not if the address space of sframe is still there.
 */
static int read_all(struct ps_process *process, const char *dir, FILE *file,
		    struct ps_request *request)
{
	bool maps;
	int ret;

	ret = ps_read_sframe(process, file);
	if (ret)
		return ret;
	maps = wants_maps(process, request->detail);
	if (maps)
		ret = ps_read_maps(&process->maps, dir);
	if (is_gone(file))
		return -ENODATA;
	if (ret)
		return ret;
	find_maps(process);
	read_command(process, dir);
	if (maps && process->nr_windows)
		read_map_symbols(process, dir, request);
	return 0;
}

/* No file sframe: no such process, or no such file in any process. */
static int explain_missing(const char *dir)
{
	struct stat st;

	return stat(dir, &st) ? -ESRCH : -EOPNOTSUPP;
}

static int read_once(struct ps_process *process, const char *dir,
		     struct ps_request *request)
{
	FILE *file = ps_open_sframe(dir);
	int ret;

	if (!file)
		return errno == ENOENT ? explain_missing(dir) : -errno;
	ret = read_all(process, dir, file, request);
	fclose(file);
	return ret;
}

int ps_read(struct ps_process *process, struct ps_request *request, pid_t pid)
{
	int i, ret = -ENODATA;
	char *dir;

	memset(process, 0, sizeof(*process));
	if (asprintf(&dir, "%s/%d", request->proc, pid) < 0)
		return -ENOMEM;
	for (i = 0; i < TRIES && ret == -ENODATA; i++) {
		ps_free(process);
		process->pid = pid;
		ret = read_once(process, dir, request);
	}
	free(dir);
	return ret;
}

void ps_free(struct ps_process *process)
{
	size_t i;

	for (i = 0; i < process->nr_windows; i++)
		free(process->windows[i].symbol);
	free(process->windows);
	ps_free_maps(&process->maps);
	memset(process, 0, sizeof(*process));
}
