// SPDX-License-Identifier: MIT
/*
 * SPDX-FileCopyrightText: 2026 The sfjit authors
 *
 * LD_PRELOAD: a kernel that has tables of files, for sfjit daemon. Its state is
 * in the directory $KERNEL:
 *
 *   ID.table	a table as it was given
 *   ID.file	the rest: a line of fdinfo as far as LAST, the bytes, the bias,
 *		and size, time and path of the file
 *   ring.N	the ring of CPU N, for the test to write to
 *   proc/	what takes the place of the list of processes in /proc
 *   clock	seconds that clocks are ahead
 *
 * $KERNEL_FAILS: prctl=N, node=N or events=N fails with this errno. The
 * converter fails at a file by the byte after EI_ABIVERSION.
 */
#define _GNU_SOURCE
#include <dirent.h>
#include <dlfcn.h>
#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/perf_event.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/sysmacros.h>
#include <time.h>
#include <unistd.h>

#include <sfjit/packed.h>

#include "converter.h"
#include "file_tables.h"

#define NEXT(name)	((__typeof__(name) *)dlsym(RTLD_NEXT, #name))
#define MOST		64	/* tables */

static const char *state(const char *name)
{
	static char path[256];

	snprintf(path, sizeof(path), "%s/%s", getenv("KERNEL"), name);
	return path;
}

static const char *state_of(int id, const char *suffix)
{
	char name[32];

	snprintf(name, sizeof(name), "%d.%s", id, suffix);
	return state(name);
}

static int failure(const char *call)
{
	const char *fails = getenv("KERNEL_FAILS");
	size_t length = strlen(call);

	if (!fails || strncmp(fails, call, length) || fails[length] != '=')
		return 0;
	return atoi(fails + length + 1);
}

static int fail(int error)
{
	errno = error;
	return -1;
}

/* ---- The descriptor ---------------------------------------------------- */

static int open_tables(void)
{
	return NEXT(open)(state("held"), O_RDONLY | O_CREAT | O_CLOEXEC, 0600);
}

/* Of any process: a path such as /proc/self/fd/3, or of fdinfo. */
static bool holds_tables(const char *of)
{
	char process[32], path[64], link[256];
	ssize_t length;
	int fd;

	if (sscanf(of, "/proc/%31[^/]/fd%*[info]/%d", process, &fd) != 2 &&
	    sscanf(of, "/proc/%31[^/]/fd/%d", process, &fd) != 2)
		return false;
	snprintf(path, sizeof(path), "/proc/%s/fd/%d", process, fd);
	length = NEXT(readlink)(path, link, sizeof(link) - 1);
	link[length < 0 ? 0 : length] = '\0';
	return length > 5 && !strcmp(link + length - 5, "/held");
}

static bool is_ours(int fd)
{
	char path[32];

	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	return holds_tables(path);
}

int prctl(int option, ...)
{
	unsigned long arg[4];
	va_list args;
	int i;

	va_start(args, option);
	for (i = 0; i < 4; i++)
		arg[i] = va_arg(args, unsigned long);
	va_end(args);
	if (option != PR_SFRAME_FILES)
		return NEXT(syscall)(SYS_prctl, option, arg[0], arg[1], arg[2],
				     arg[3]);
	if (arg[0] || arg[1] || arg[2] || arg[3])
		return fail(EINVAL);
	return failure("prctl") ? fail(failure("prctl")) : open_tables();
}

ssize_t readlink(const char *path, char *link, size_t size)
{
	static const char name[] = "anon_inode:[sframe_files]";

	if (!holds_tables(path))
		return NEXT(readlink)(path, link, size);
	size = size < sizeof(name) - 1 ? size : sizeof(name) - 1;
	memcpy(link, name, size);
	return size;
}

/* ---- Tables ------------------------------------------------------------ */

static bool read_state(int id, char *line, size_t size)
{
	FILE *file = NEXT(fopen)(state_of(id, "file"), "re");

	*line = '\0';
	if (!file)
		return false;
	if (!fgets(line, size, file))
		*line = '\0';
	fclose(file);
	return *line;
}

static bool is_taken(const struct stat *st, unsigned long first)
{
	unsigned int major, minor;
	unsigned long inode, other;
	char line[512];
	int id;

	for (id = 1; id < MOST; id++)
		if (read_state(id, line, sizeof(line)) &&
		    sscanf(line, "table %*d %x:%x %lu %lx-", &major, &minor,
			   &inode, &other) == 4 &&
		    major == major(st->st_dev) && minor == minor(st->st_dev) &&
		    inode == st->st_ino && other == first)
			return true;
	return false;
}

static int find_id(void)
{
	int id = 1;

	while (!access(state_of(id, "table"), F_OK))
		id++;
	return id;
}

static void write_state(int id, const struct sframe_file_opts *opts,
			const struct stat *st, unsigned long first)
{
	const struct sframe_packed_header *header =
		(void *)(uintptr_t)opts->table;
	char link[32], path[256] = "";
	FILE *file = NEXT(fopen)(state_of(id, "table"), "we");

	fwrite(header, opts->length, 1, file);
	fclose(file);
	snprintf(link, sizeof(link), "/proc/self/fd/%d", opts->fd);
	if (NEXT(readlink)(link, path, sizeof(path) - 1) < 0)
		*path = '\0';
	file = NEXT(fopen)(state_of(id, "file"), "we");
	fprintf(file, "table %d %02x:%02x %lu %lx-%lx %llu %llx %ld %ld %s\n",
		id, major(st->st_dev), minor(st->st_dev),
		(unsigned long)st->st_ino, first, first + header->text_length,
		(unsigned long long)opts->length,
		(unsigned long long)opts->text_bias, (long)st->st_size,
		(long)st->st_mtim.tv_nsec, path);
	fclose(file);
}

static int add(const struct sframe_file_opts *opts)
{
	const struct sframe_packed_header *header =
		(void *)(uintptr_t)opts->table;
	unsigned long first;
	struct stat st;
	int id;

	if (opts->size != sizeof(*opts) || opts->table % SFRAME_PACKED_ALIGN ||
	    opts->length < sizeof(*header) ||
	    header->magic != SFRAME_PACKED_MAGIC)
		return fail(EINVAL);
	if (fstat(opts->fd, &st) || !S_ISREG(st.st_mode))
		return fail(EBADF);
	if (opts->ctime != st.st_ctim.tv_sec ||
	    opts->ctime_nsec != st.st_ctim.tv_nsec)
		return fail(EAGAIN);
	first = header->text_start + opts->text_bias;
	if (is_taken(&st, first))
		return fail(EEXIST);
	id = find_id();
	write_state(id, opts, &st, first);
	return id;
}

static int take_away(int id)
{
	if (unlink(state_of(id, "table")))
		return -1;
	return unlink(state_of(id, "file"));
}

int ioctl(int fd, unsigned long request, ...)
{
	void *argument;
	va_list args;

	va_start(args, request);
	argument = va_arg(args, void *);
	va_end(args);
	if (request == SFJIT_IOC_FILES)
		return open_tables();
	if (request != SFRAME_IOC_ADD && request != SFRAME_IOC_REMOVE)
		return NEXT(syscall)(SYS_ioctl, fd, request, argument);
	if (!is_ours(fd))
		return fail(ENOTTY);
	return request == SFRAME_IOC_ADD ? add(argument) :
					   take_away((long)argument);
}

/* The path leads to the same file, which was written to. */
static bool has_changed(const char *line)
{
	unsigned long inode;
	long size, time;
	struct stat st;
	char path[256];

	return sscanf(line, "%*s %*s %*s %lu %*s %*s %*s %ld %ld %255s", &inode,
		      &size, &time, path) == 4 && !stat(path, &st) &&
	       st.st_ino == inode &&
	       (st.st_size != size || st.st_mtim.tv_nsec != time);
}

static FILE *open_fdinfo(void)
{
	FILE *file = tmpfile();
	char line[512];
	int id, end;

	fprintf(file, "pos:\t0\nflags:\t02\ntables 0 0\nno_fde 0\n");
	for (id = 1; id < MOST; id++) {
		if (!read_state(id, line, sizeof(line)))
			continue;
		sscanf(line, "%*s %*s %*s %*s %*s %*s%n", &end);
		fprintf(file, "%.*s %s\n", end, line, has_changed(line) ?
			"changed" : "current");
	}
	rewind(file);
	return file;
}

FILE *fopen(const char *path, const char *mode)
{
	return holds_tables(path) ? open_fdinfo() :
				    NEXT(fopen)(path, mode);
}

/* ---- Mappings ---------------------------------------------------------- */

DIR *opendir(const char *path)
{
	return NEXT(opendir)(strcmp(path, "/proc") ? path : state("proc"));
}

static int open_ring(const struct perf_event_attr *attr, int cpu)
{
	char name[32];
	int fd;

	if (failure("events"))
		return fail(failure("events"));
	if (cpu > 1)
		return fail(ENODEV);
	if (!attr->mmap || !attr->mmap2 || attr->mmap_data)
		return fail(EINVAL);
	snprintf(name, sizeof(name), "ring.%d", cpu);
	fd = NEXT(open)(state(name), O_RDWR | O_CREAT | O_CLOEXEC, 0600);
	return ftruncate(fd, sysconf(_SC_PAGESIZE) + (64 << 10)) ? -1 : fd;
}

long syscall(long number, ...)
{
	long arg[6];
	va_list args;
	int i;

	va_start(args, number);
	for (i = 0; i < 6; i++)
		arg[i] = va_arg(args, long);
	va_end(args);
	if (number == SYS_perf_event_open)
		return open_ring((void *)arg[0], arg[2]);
	return NEXT(syscall)(number, arg[0], arg[1], arg[2], arg[3], arg[4],
			     arg[5]);
}

/* ---- Time -------------------------------------------------------------- */

int clock_gettime(clockid_t clock, struct timespec *now)
{
	FILE *file = fopen(state("clock"), "re");
	long ahead = 0;
	int ret = NEXT(clock_gettime)(clock, now);

	if (file) {
		if (fscanf(file, "%ld", &ahead) != 1)
			ahead = 0;
		fclose(file);
	}
	now->tv_sec += ahead;
	return ret;
}

/* ---- Files that do harm ------------------------------------------------ */

int open(const char *path, int flags, ...)
{
	const char *name = strrchr(path, '/');
	mode_t mode;
	va_list args;

	va_start(args, flags);
	mode = flags & O_CREAT ? va_arg(args, mode_t) : 0;
	va_end(args);
	if (name && !strcmp(name, "/blocks"))
		for (;;)
			pause();
	if (strcmp(path, SFJIT_DEVICE))
		return NEXT(open)(path, flags, mode);
	return failure("node") ? fail(failure("node")) :
				 NEXT(open)("/dev/null", flags);
}

static struct converted *shared;

void *mmap(void *at, size_t length, int protection, int flags, int fd,
	   off_t offset)
{
	void *p = NEXT(mmap)(at, length, protection, flags, fd, offset);

	if (flags & MAP_SHARED && flags & MAP_ANONYMOUS)
		shared = p;
	return p;
}

/* Too many tables, an offset that is not aligned or outside, a wrong length. */
static void lie(char kind)
{
	shared->nr = kind == 'n' ? TABLES_MOST + 1 : 1;
	shared->tables[0].offset = kind == 'u' ? 4104 : kind == 'o' ? -16 :
				   4096;
	shared->tables[0].length = kind == 'e' ? -4096 : 64;
	_exit(0);
}

static void do_harm(char kind)
{
	static volatile char *nowhere;

	if (kind && strchr("nouet", kind))
		lie(kind);

	if (kind == 'c')
		*nowhere = 0;
	if (kind == 's')
		syscall(SYS_getppid);
	while (kind == 'l')
		;
}

ssize_t pread(int fd, void *to, size_t size, off_t offset)
{
	static __typeof__(pread) *next;
	const char *ident = to;
	ssize_t got;

	if (!next)
		next = NEXT(pread);
	got = next(fd, to, size, offset);
	if (!offset && got >= EI_NIDENT && !memcmp(ident, ELFMAG, SELFMAG))
		do_harm(ident[EI_PAD]);
	return got;
}
