/* SPDX-License-Identifier: MIT */
/*
 * SPDX-FileCopyrightText: 2026 The sfjit authors
 *
 * System calls, a lock, environment variables, text and a checksum, for code
 * inside a program that does not expect it.
 *
 * libc's wrappers are cancellation points, and programs and other preloaded
 * libraries interpose them; syscall(2) is neither. errno is clobbered: what the
 * program can observe is saved where the module is entered.
 */
#ifndef SFJIT_PRELOAD_SYS_H
#define SFJIT_PRELOAD_SYS_H

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
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

/*
 * A lock of the threads of a process. An owner that is another process is the
 * copy of a thread that did not survive fork(): the child takes the lock over,
 * so what it protects has to be usable at any point of a change.
 *
 * Not for the child of vfork(), which shares the memory and has another number.
 */
struct lock {
	uint32_t owner;		/* number of the process; 0: free */
	uint32_t waiting;
};

bool lock_try(struct lock *lock);
/* Waits. Do not wait for ld.so while you hold it: ld.so may wait for us. */
void lock_take(struct lock *lock);
void lock_release(struct lock *lock);

/*
 * Without getenv(), which shells define themselves. "" when the variable is not
 * set.
 */
static inline const char *sys_variable(char **environment, const char *name)
{
	size_t length = strlen(name);

	for (; environment && *environment; environment++)
		if (!strncmp(*environment, name, length) &&
		    (*environment)[length] == '=')
			return *environment + length + 1;
	return "";
}

/*
 * Builds a line of text without stdio, locale or allocation. It drops text that
 * does not fit. data is always a string.
 */
struct text {
	size_t length;
	char data[1024];
};

void text_put(struct text *t, const char *string);
/* A newline, in any case. */
void text_end_line(struct text *t);
/* With leading zeros up to 'width' digits. */
void text_decimal(struct text *t, uint64_t value, unsigned int width);
void text_hex(struct text *t, uint64_t value, unsigned int width);

/*
 * A checksum against accidents, eight bytes at a time: FNV-1a with a shift, so
 * that the upper bits matter to the lower.
 */
#define SUM_START	0xcbf29ce484222325ULL
#define SUM_PRIME	0x100000001b3ULL

static inline uint64_t sum_bytes(uint64_t sum, const void *data, size_t length)
{
	const uint8_t *p = data;
	uint64_t word;

	for (; length >= 8; p += 8, length -= 8) {
		memcpy(&word, p, 8);
		sum = (sum ^ word) * SUM_PRIME;
		sum ^= sum >> 29;
	}
	while (length--)
		sum = (sum ^ *p++) * SUM_PRIME;
	return sum;
}

#endif /* SFJIT_PRELOAD_SYS_H */
