/* SPDX-License-Identifier: MIT */
/*
 * SPDX-FileCopyrightText: 2026 The sfjit authors
 *
 * SFrame windows without a library: this file alone, to be included or copied.
 * For programs that make their tables themselves, or have them as templates.
 * C99 and later, C++11 and later, on Linux with 64-bit code.
 *
 * - A call returns 0 on success and -errno on failure. errno may be changed.
 * - On a kernel without SFrame windows, or where a seccomp filter hides them,
 *   registering, replacing and unregistering succeed and do nothing.
 * - Every call is MT-safe and async-signal-safe. The child of a fork has the
 *   windows of its parent.
 * - Nothing is allocated or remembered. The section stays the caller's: it must
 *   neither change nor be freed before the window is replaced or removed.
 *
 * The rules for keys, sections and text are those of sfjit_register(3).
 */
#ifndef SFJIT_CLIENT_H
#define SFJIT_CLIENT_H

#include <errno.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/prctl.h>

/* As in <sfjit/sframe.h>, the kernel's header. */
#define SFJIT_CLIENT_REGISTER	0x53464a31
#define SFJIT_CLIENT_UNREGISTER	0x53464a32
#define SFJIT_CLIENT_QUERY	0x53464a33
#define SFJIT_CLIENT_REPLACE	0x1u	/* flag of a registration */
#define SFJIT_CLIENT_V3		0u	/* formats */
#define SFJIT_CLIENT_PACKED	4u

struct sfjit_client_opts {
	uint32_t	size;
	uint32_t	flags;
	uint64_t	text_start;
	uint64_t	text_length;
	uint32_t	format;
	uint32_t	reserved;
	uint64_t	text_bias;
};

/**
 * sfjit_client_available - whether the kernel takes registrations
 *
 * Asks the kernel each time.
 *
 * Return: 1 or 0.
 */
static inline int sfjit_client_available(void)
{
	return prctl(SFJIT_CLIENT_QUERY, 0UL, 0UL, 0UL, 0UL) >= 0;
}

/* A kernel without windows may return any error. */
static inline int sfjit_client_result(int ret)
{
	int error = ret < 0 ? errno : 0;

	return error && sfjit_client_available() ? -error : 0;
}

static inline int sfjit_client_try(uintptr_t key, const void *section,
				   size_t length,
				   const struct sfjit_client_opts *opts)
{
	return prctl(SFJIT_CLIENT_REGISTER, (unsigned long)key,
		     (unsigned long)(uintptr_t)section, (unsigned long)length,
		     (unsigned long)(uintptr_t)opts);
}

/* The kernel refuses a section as a packed table, and the reverse. */
static inline int sfjit_client_do(uintptr_t key, const void *section,
				  size_t length, const void *text,
				  size_t text_length, uint32_t flags)
{
	struct sfjit_client_opts opts;
	int ret;

	opts.size = sizeof(opts);
	opts.flags = flags;
	opts.text_start = (uintptr_t)text;
	opts.text_length = text_length;
	opts.format = SFJIT_CLIENT_PACKED;
	opts.reserved = 0;
	opts.text_bias = 0;
	ret = sfjit_client_try(key, section, length, &opts);
	if (ret < 0 && errno == EINVAL) {
		opts.format = SFJIT_CLIENT_V3;
		ret = sfjit_client_try(key, section, length, &opts);
	}
	return sfjit_client_result(ret);
}

/**
 * sfjit_client_register - tell the kernel how to walk through a range of code
 * @key:	name of the window, by convention the address of the code
 * @section:	packed table or SFrame version 3 section
 * @length:	bytes of @section
 * @text:	first byte of the code, which is executable
 * @text_length: bytes of code; 0 with @text NULL takes the range from the
 *		first to the last function of the section
 *
 * Return: 0.
 *   -EINVAL, -EBUSY, -EEXIST, -EFAULT, -ENOSPC, -ENOMEM, -EINTR, -EOPNOTSUPP
 *		as sfjit_register(3)
 */
static inline int sfjit_client_register(uintptr_t key, const void *section,
					size_t length, const void *text,
					size_t text_length)
{
	return sfjit_client_do(key, section, length, text, text_length, 0);
}

/**
 * sfjit_client_replace - replace the section of a window, and extend its range
 *
 * The arguments are those of sfjit_client_register(); the new range equals or
 * contains the old one. A sample finds the old window or the new one.
 *
 * Return: as sfjit_client_register(), without -EBUSY, and
 *   -ENOENT	No window has this key.
 */
static inline int sfjit_client_replace(uintptr_t key, const void *section,
				       size_t length, const void *text,
				       size_t text_length)
{
	return sfjit_client_do(key, section, length, text, text_length,
			       SFJIT_CLIENT_REPLACE);
}

/**
 * sfjit_client_unregister - remove a window
 * @key:	as registered
 *
 * When it returns 0, the section may be changed or freed.
 *
 * Return: 0.
 *   -ENOENT	No window has this key. Also when the code was unmapped.
 */
static inline int sfjit_client_unregister(uintptr_t key)
{
	return sfjit_client_result(prctl(SFJIT_CLIENT_UNREGISTER,
					 (unsigned long)key, 0UL, 0UL, 0UL));
}

#endif /* SFJIT_CLIENT_H */
