// SPDX-License-Identifier: MIT
// SPDX-FileCopyrightText: 2026 The sfjit authors
/* System calls that take more than one line, and what is made of them. */
#include <linux/futex.h>
#include <signal.h>
#include <stdarg.h>

#include "sys.h"

int sys_read_all(int fd, void *buf, size_t length, uint64_t offset)
{
	size_t done = 0;
	long n;

	while (done < length) {
		n = SYS(SYS_pread64, fd, (char *)buf + done, length - done,
			offset + done);
		if (n == -EINTR)
			continue;
		if (n <= 0)
			return n ? n : -EIO;
		done += n;
	}
	return 0;
}

static int write_loop(int fd, const char *buf, size_t length)
{
	long n;

	while (length) {
		n = SYS(SYS_write, fd, buf, length);
		if (n == -EINTR)
			continue;
		if (n <= 0)
			return n ? n : -EIO;
		buf += n;
		length -= n;
	}
	return 0;
}

/* The kernel's signal sets: one bit per signal, 64 signals. */
#define WRITE_SIGNALS	(1UL << (SIGPIPE - 1) | 1UL << (SIGXFSZ - 1))

int sys_write_all(int fd, const void *buf, size_t length)
{
	uint64_t mask = WRITE_SIGNALS, old, before = 0;
	const struct timespec now = { 0 };
	int ret;

	SYS(SYS_rt_sigprocmask, SIG_BLOCK, &mask, &old, sizeof(mask));
	SYS(SYS_rt_sigpending, &before, sizeof(before));
	ret = write_loop(fd, buf, length);
	mask &= ~before;
	if (ret && mask)
		SYS(SYS_rt_sigtimedwait, &mask, NULL, &now, sizeof(mask));
	SYS(SYS_rt_sigprocmask, SIG_SETMASK, &old, NULL, sizeof(old));
	return ret;
}

uint64_t sys_clock_ns(void)
{
	struct timespec t = { 0 };

	SYS(SYS_clock_gettime, CLOCK_MONOTONIC, &t);
	return t.tv_sec * 1000000000ULL + t.tv_nsec;
}

int sys_status(const char *field)
{
	char text[4096];
	const char *p;
	int fd, sum = 0;
	long n;

	fd = sys_open(AT_FDCWD, "/proc/thread-self/status", O_RDONLY, 0);
	if (fd < 0)
		return -1;
	n = SYS(SYS_read, fd, text, sizeof(text) - 1);
	sys_close(fd);
	text[n > 0 ? n : 0] = '\0';
	for (p = text; (p = strstr(p, field)); ) {
		p += strcspn(p, "\t");
		while (*p == '\t' || (*p >= '0' && *p <= '9'))
			sum = *p == '\t' ? sum : sum * 10 + *p - '0', p++;
	}
	return sum;
}

/*
 * A filter that the program installs may kill it for a prctl() that it does
 * not make itself. The calls that read this file are those of ld.so at work.
 */
int sys_same_filters(void)
{
	static int first = -2;
	int now = sys_status("\nSeccomp");	/* and "Seccomp_filters:" */

	if (first == -2)
		first = now;
	return now == first;
}

int __wrap_prctl(int option, ...)
{
	unsigned long arg[4];
	va_list args;
	int i;

	va_start(args, option);
	for (i = 0; i < 4; i++)
		arg[i] = va_arg(args, unsigned long);
	va_end(args);
	return syscall(SYS_prctl, option, arg[0], arg[1], arg[2], arg[3]);
}

/* The lock, by futex(2): libc's are not usable before libc is initialised. */

bool lock_try(struct lock *lock)
{
	uint32_t self = SYS(SYS_getpid), old = 0;

	if (__atomic_compare_exchange_n(&lock->owner, &old, self, false,
					__ATOMIC_ACQUIRE, __ATOMIC_RELAXED))
		return true;
	return old != self &&
	       __atomic_compare_exchange_n(&lock->owner, &old, self, false,
					   __ATOMIC_ACQUIRE, __ATOMIC_RELAXED);
}

void lock_take(struct lock *lock)
{
	uint32_t self = SYS(SYS_getpid);

	__atomic_add_fetch(&lock->waiting, 1, __ATOMIC_SEQ_CST);
	while (!lock_try(lock))
		SYS(SYS_futex, &lock->owner, FUTEX_WAIT_PRIVATE, self, NULL);
	__atomic_sub_fetch(&lock->waiting, 1, __ATOMIC_SEQ_CST);
}

void lock_release(struct lock *lock)
{
	__atomic_store_n(&lock->owner, 0, __ATOMIC_SEQ_CST);
	if (__atomic_load_n(&lock->waiting, __ATOMIC_SEQ_CST))
		SYS(SYS_futex, &lock->owner, FUTEX_WAKE_PRIVATE, 1);
}

static void put_char(struct text *t, char c)
{
	if (t->length >= sizeof(t->data) - 1)
		return;
	t->data[t->length++] = c;
	t->data[t->length] = '\0';
}

void text_put(struct text *t, const char *string)
{
	/* One record stays one line, whatever a file is called. */
	for (; *string; string++)
		put_char(t, (unsigned char)*string < ' ' ? '?' : *string);
}

void text_end_line(struct text *t)
{
	if (t->length == sizeof(t->data) - 1)
		t->length--;
	put_char(t, '\n');
}

static void put_digits(struct text *t, uint64_t value, unsigned int base,
		       unsigned int width)
{
	char digits[64];
	unsigned int nr = 0;

	do {
		digits[nr++] = "0123456789abcdef"[value % base];
		value /= base;
	} while (value || nr < width);
	while (nr)
		put_char(t, digits[--nr]);
}

void text_decimal(struct text *t, uint64_t value, unsigned int width)
{
	put_digits(t, value, 10, width);
}

void text_hex(struct text *t, uint64_t value, unsigned int width)
{
	put_digits(t, value, 16, width);
}
