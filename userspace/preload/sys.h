/* SPDX-License-Identifier: MIT */
/*
 * SPDX-FileCopyrightText: 2026 The sfjit authors
 *
 * System calls made inside a program that does not expect them.
 *
 * libc's wrappers are cancellation points, and programs and other preloaded
 * libraries interpose them; syscall(2) is neither. errno is clobbered: what the
 * program can observe is saved where the module is entered.
 */
#ifndef SFJIT_PRELOAD_SYS_H
#define SFJIT_PRELOAD_SYS_H

#include <errno.h>
#include <fcntl.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include <code.h>

#define SYS(...)	sys_result(syscall(__VA_ARGS__))

static inline long sys_result(long ret)
{
	return ret == -1 ? -errno : ret;
}

/* As syscall(2): -1 on failure, and errno is set. */
static inline long sys_mmap_errno(void *start, size_t length, int protection,
				  int flags, int fd, off_t offset)
{
	const long block[] = {
		(long)start, length, protection, flags, fd, offset,
	};

	return CODE_MMAP_BLOCK ? syscall(SYS_mmap, block) :
	       syscall(SYS_mmap, start, length, protection, flags, fd, offset);
}

#define SYS_MMAP(...)	sys_result(sys_mmap_errno(__VA_ARGS__))

/* Resident from the start, so that a sample never meets a missing page. */
static inline void *sys_map(size_t length)
{
	long ret = SYS_MMAP(NULL, length, PROT_READ | PROT_WRITE,
			    MAP_PRIVATE | MAP_ANONYMOUS | MAP_POPULATE, -1, 0);

	return ret < 0 && ret > -4096 ? NULL : (void *)ret;
}

static inline void sys_unmap(void *start, size_t length)
{
	SYS(SYS_munmap, start, length);
}

static inline int sys_open(int dir, const char *path, int flags, int mode)
{
	return SYS(SYS_openat, dir, path, flags | O_CLOEXEC | O_NOCTTY, mode);
}

static inline void sys_close(int fd)
{
	SYS(SYS_close, fd);
}

/* Reads 'length' bytes; fewer are -EIO. */
int sys_read_all(int fd, void *buf, size_t length, uint64_t offset);

/*
 * Writes 'length' bytes; fewer are -EIO. The signals of a closed pipe and of
 * the file size limit are kept from the program.
 */
int sys_write_all(int fd, const void *buf, size_t length);

uint64_t sys_clock_ns(void);

/*
 * The sum of the numbers of /proc/thread-self/status whose field begins with
 * this, a newline first; -1: it cannot be read.
 */
int sys_status(const char *field);

/* The process has as many seccomp filters as at the first call. */
int sys_same_filters(void);

/* libsfjit's calls in the module: prctl() is the one for the program there. */
__attribute__((visibility("hidden"))) int __wrap_prctl(int option, ...);

#endif /* SFJIT_PRELOAD_SYS_H */
