// SPDX-License-Identifier: MIT
/*
 * SPDX-FileCopyrightText: 2026 The sfjit authors
 *
 * perf's jitdump. `perf inject --jit' makes an ELF file of each LOAD record and
 * maps it at the code's address from the record's time on.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <jitdump-format.h>
#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <sframegen.h>

#include "file.h"
#include "internal.h"
#include "jitdump.h"

/*
 * @pid: the process that owns this file, 0 for none
 * @marker: a mapped page, by which perf record learns of the file
 */
static struct {
	char dir[PATH_MAX];
	pid_t pid;
	uint64_t index;
	void *marker;
} dump;

/* ---- The file -------------------------------------------------------- */

static const char code[] = "dump", retired[] = "retired";

static int dump_path(char *path, size_t length, const char *dir, pid_t pid,
		     const char *suffix)
{
	int n = snprintf(path, length, "%s/jit-%d.%s", dir, (int)pid, suffix);

	return n < 0 || (size_t)n >= length ? -ENAMETOOLONG : 0;
}

static int open_dump(const char *dir, pid_t pid, const char *suffix, int flags)
{
	char path[PATH_MAX];
	struct stat st;
	int ret = dump_path(path, sizeof(path), dir, pid, suffix);

	return ret ? ret : sfjit_open_file(path, flags, &st);
}

static int write_header(int fd, pid_t pid, uint64_t time)
{
	struct jitdump_header header = {
		.magic = JITDUMP_MAGIC,
		.version = JITDUMP_VERSION,
		.total_size = sizeof(header),
		.elf_machine = sfg_elf_machine(SFG_HOST_ABI),
		.pid = pid,
		.timestamp = time,
	};
	struct iovec part = { &header, sizeof(header) };

	/* Left by an earlier process with this id. */
	if (ftruncate(fd, 0))
		return -errno;
	return sfjit_append(fd, &part, 1);
}

static void unmap_marker(void)
{
	if (dump.marker)
		munmap(dump.marker, sysconf(_SC_PAGESIZE));
	dump.marker = NULL;
}

/* perf record sees executable mappings only. */
static int map_marker(int fd)
{
	int ret = sfjit_fault("mmap");
	void *page;

	if (ret)
		return ret;
	page = mmap(NULL, sysconf(_SC_PAGESIZE), PROT_READ | PROT_EXEC,
		    MAP_PRIVATE, fd, 0);
	if (page == MAP_FAILED)
		return -errno;
	unmap_marker();
	dump.marker = page;
	return 0;
}

static int begin_file(const char *dir, pid_t pid, const char *suffix,
		      uint64_t time)
{
	int fd = open_dump(dir, pid, suffix, O_RDWR | O_APPEND | O_CREAT);
	int ret;

	if (fd < 0)
		return fd;
	ret = write_header(fd, pid, time);
	if (!ret && suffix == code)
		ret = map_marker(fd);
	close(fd);
	return ret;
}

/*
 * Create the file of retired code first: a reader that learns of the jitdump
 * looks for it at once.
 */
static int begin_files(const char *dir, pid_t pid, uint64_t time)
{
	int ret = begin_file(dir, pid, retired, time);

	if (!ret)
		ret = begin_file(dir, pid, code, time);
	if (ret)
		return ret;
	dump.pid = pid;
	dump.index = 0;
	return 0;
}

int sfjit_jitdump_open(const char *dir, uint64_t time)
{
	pid_t pid = getpid();
	int ret;

	if (dump.pid == pid)
		return 0;
	if (!dir)
		dir = "/tmp";
	if (strlen(dir) >= sizeof(dump.dir))
		return -ENAMETOOLONG;
	ret = begin_files(dir, pid, time);
	if (!ret)
		strcpy(dump.dir, dir);
	return ret;
}

/* ---- Records --------------------------------------------------------- */

static int write_parts(const char *suffix, const struct iovec *parts, int nr)
{
	int fd = open_dump(dump.dir, dump.pid, suffix, O_WRONLY | O_APPEND);
	int ret;

	if (fd < 0)
		return fd;
	ret = sfjit_append(fd, parts, nr);
	close(fd);
	return ret;
}

int sfjit_jitdump_close(uint64_t time)
{
	struct jitdump_prefix record = { JITDUMP_CLOSE, sizeof(record), time };
	struct iovec part = { &record, sizeof(record) };
	int ret = 0;

	/* A forked child that loaded no code has no file. */
	if (dump.pid == getpid())
		ret = write_parts(code, &part, 1);
	unmap_marker();
	dump.pid = 0;
	return ret;
}

static int make_cfi(const struct sfjit_function *function, uint8_t *buffer,
		    size_t length, size_t *used, size_t *hdr)
{
	return sfg_write_cfi(SFG_HOST_ABI, function,
			     jitdump_aligned(function->size), buffer, length,
			     used, hdr);
}

long sfjit_jitdump_room(const struct sfjit_function *function)
{
	size_t used, hdr;
	int ret = make_cfi(function, NULL, 0, &used, &hdr);

	if (ret != -ENOSPC)
		return ret;
	return jitdump_aligned(function->size) - function->size + used;
}

/*
 * Both records by one write, so that they stay adjacent. If @mapped, perf maps
 * @cfi behind the code, over whatever is at those addresses.
 */
static int write_load(const struct sfjit_function *function, bool mapped,
		      const char *name, uint64_t time, uint8_t *cfi,
		      size_t used, size_t hdr)
{
	char clean[SFJIT_NAME_BYTES + 1], zeros[8] = "";
	size_t name_size = sfjit_clean_name(clean, name) + 1;
	struct jitdump_unwinding unwinding = {
		.prefix = { JITDUMP_UNWINDING_INFO,
			    sizeof(unwinding) + jitdump_aligned(used), time },
		.size = used,
		.hdr_size = hdr,
		.mapped_size = mapped ? used : 0,
	};
	struct jitdump_load record = {
		.prefix = { JITDUMP_LOAD,
			    sizeof(record) + name_size + function->size, time },
		.pid = dump.pid,
		.tid = syscall(SYS_gettid),
		.vma = function->addr,
		.code_addr = function->addr,
		.code_size = function->size,
		.code_index = dump.index,
	};
	struct iovec parts[] = {
		{ &unwinding, sizeof(unwinding) },
		{ cfi, used },
		{ zeros, jitdump_aligned(used) - used },
		{ &record, sizeof(record) },
		{ clean, name_size },
		{ (void *)(uintptr_t)function->addr, function->size },
	};
	int first = used ? 0 : 3, ret;

	clean[name_size - 1] = '\0';
	ret = write_parts(code, parts + first, 6 - first);
	if (!ret)
		dump.index++;
	return ret;
}

/* A record's size has 32 bits. */
static bool fits(const struct sfjit_function *function)
{
	return function->size <= UINT32_MAX - sizeof(struct jitdump_load) -
				 SFJIT_NAME_BYTES - 1;
}

static int load_record(const struct sfjit_function *function, size_t room,
		       const char *name, uint64_t time)
{
	long needed = sfjit_jitdump_room(function);
	size_t used = 0, hdr = 0;
	uint8_t *cfi = NULL;
	int ret = 0;

	/* On machines without an encoder, still write the name. */
	if (needed < 0)
		return needed == -ENOTSUP ?
		       write_load(function, false, name, time, NULL, 0, 0) :
		       needed;
	cfi = malloc(needed);
	if (!cfi)
		return -ENOMEM;
	ret = make_cfi(function, cfi, needed, &used, &hdr);
	if (!ret)
		ret = write_load(function, room >= (size_t)needed, name, time,
				 cfi, used, hdr);
	free(cfi);
	return ret;
}

static int begin_own(uint64_t time)
{
	pid_t pid = getpid();

	return dump.pid == pid ? 0 : begin_files(dump.dir, pid, time);
}

int sfjit_jitdump_load(const struct sfjit_function *function, size_t room,
		       const char *name, uint64_t time)
{
	int ret;

	if (!fits(function))
		return -E2BIG;
	ret = begin_own(time);
	return ret ? ret : load_record(function, room, name, time);
}

int sfjit_jitdump_drop(const void *start, size_t length, uint64_t time)
{
	struct jitdump_retired record = { time, (uintptr_t)start, length };
	struct iovec part = { &record, sizeof(record) };
	int ret = begin_own(time);

	return ret ? ret : write_parts(retired, &part, 1);
}
