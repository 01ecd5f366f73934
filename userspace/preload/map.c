// SPDX-License-Identifier: MIT
// SPDX-FileCopyrightText: 2026 The sfjit authors
/*
 * Text may become executable by being mapped, over a place for it that was
 * described before; what was there loses its windows. And there are libraries
 * whose JIT says nothing of its code, and uses the frame pointer for other
 * things: they map memory for it. The call goes to the next mmap() of the
 * program; before this module has looked that up, to the kernel.
 *
 * None of preload_has_mapped(), preload_will_map() and _dl_find_object() waits
 * for a lock: who maps memory may hold any.
 */
#include <limits.h>
#include <stdarg.h>
#include <stdbool.h>
#include <string.h>

#include "jit.h"
#include "libc.h"
#include "preload.h"
#include "sys.h"

#define EXPORT	__attribute__((visibility("default")))

typedef void *(*map)(void *start, size_t length, int protection, int flags,
		     int fd, off_t offset);

EXPORT void *mmap(void *start, size_t length, int protection, int flags,
		  int fd, off_t offset);
EXPORT void *mmap64(void *start, size_t length, int protection, int flags,
		    int fd, off64_t offset);

EXPORT void *mremap(void *start, size_t length, size_t new_length, int flags,
		    ...);

static map next_mmap;
static void *(*next_mremap)(void *start, size_t length, size_t new_length,
			    int flags, ...);
static char program[PATH_MAX];	/* its path */

/*
 * PCRE2's compiler, sljit, has a register for each of its own. Mono's leaves out
 * frame pointers where it can, and uses rbp there. Erlang's keeps frame pointers
 * only with +JPperf.
 */
static const char *const without_fp[] = {
	"libpcre2-", "libmonosgen-", "libmonoboehm-", "mono-sgen", "mono-boehm",
	"beam.", NULL
};

static const char *base(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash ? slash + 1 : path;
}

/* By this argument, which erl makes of +JPperf. */
static bool erlang_keeps_fp;

/* The first page of the command line will do. */
static bool has_argument(const char *wanted)
{
	int fd = sys_open(AT_FDCWD, "/proc/self/cmdline", O_RDONLY, 0);
	const char *at, *end;
	char text[4096];
	long n;

	if (fd < 0)
		return false;
	n = SYS(SYS_read, fd, text, sizeof(text) - 1);
	sys_close(fd);
	end = text + (n > 0 ? n : 0);
	text[end - text] = '\0';
	for (at = text; at < end; at += strlen(at) + 1)
		if (!strcmp(at, wanted))
			return true;
	return false;
}

static bool is_erlang(const char *file)
{
	return !strncmp(file, "beam.", 5);
}

__attribute__((constructor)) static void look_up_mmap(void)
{
	int saved = errno;
	long n = SYS(SYS_readlinkat, AT_FDCWD, "/proc/self/exe", program,
		     sizeof(program) - 1);

	program[n > 0 ? n : 0] = '\0';
	erlang_keeps_fp = is_erlang(base(program)) && has_argument("-JPperf");
	errno = saved;
	next_mmap = (map)libc_next("mmap");
	next_mremap = (__typeof__(next_mremap))libc_next("mremap");
}

/* ld.so has no name for the program. */
static const char *file_name(const struct link_map *module)
{
	return base(*module->l_name ? module->l_name : program);
}

static bool is_caller_without_fp(const void *caller)
{
	const char *const *name = without_fp, *file;
	struct dl_find_object found;

	if (!libc.find_object ||
	    libc.find_object((void *)caller, &found) ||
	    !found.dlfo_link_map->l_name)
		return false;
	file = file_name(found.dlfo_link_map);
	while (*name && strncmp(file, *name, strlen(*name)))
		name++;
	return *name && !(is_erlang(file) && erlang_keeps_fp);
}

static void *map_next(void *start, size_t length, int protection, int flags,
		      int fd, off_t offset)
{
	if (next_mmap)
		return next_mmap(start, length, protection, flags, fd, offset);
	return (void *)sys_mmap_errno(start, length, protection, flags, fd,
				      offset);
}

/* A file of these is memory that they have mapped twice: ld.so maps the others. */
static void noticed(void *start, size_t length, const void *caller)
{
	if (is_caller_without_fp(caller))
		jit_ends(start, length);
	else
		preload_has_mapped(start, length);
}

static void *do_map(void *start, size_t length, int protection, int flags,
		    int fd, off_t offset, const void *caller)
{
	bool replaces = flags & MAP_FIXED;
	void *ret;

	if (replaces)
		preload_will_map(start, length);
	ret = map_next(start, length, protection, flags, fd, offset);
	if (ret != MAP_FAILED && (protection & PROT_EXEC))
		noticed(ret, length, caller);
	else if (replaces)
		preload_has_mapped(start, length);
	return ret;
}

void *mmap(void *start, size_t length, int protection, int flags, int fd,
	   off_t offset)
{
	return do_map(start, length, protection, flags, fd, offset,
		      __builtin_return_address(0));
}

void *mmap64(void *start, size_t length, int protection, int flags, int fd,
	     off64_t offset)
{
	return do_map(start, length, protection, flags, fd, offset,
		      __builtin_return_address(0));
}

/* Text is moved over other text, or away from where it was. */
static void before_move(void *start, size_t length, void *to, size_t to_length,
			int flags)
{
	if (flags & MREMAP_FIXED)
		preload_will_map(to, to_length);
	if (flags & MREMAP_MAYMOVE)
		preload_will_map(start, length);
}

/* libc's takes five, too, however many there are. */
void *mremap(void *start, size_t length, size_t new_length, int flags, ...)
{
	va_list args;
	void *to, *ret;

	va_start(args, flags);
	to = va_arg(args, void *);
	va_end(args);
	before_move(start, length, to, new_length, flags);
	if (next_mremap)
		ret = next_mremap(start, length, new_length, flags, to);
	else
		ret = (void *)syscall(SYS_mremap, start, length, new_length,
				      flags, to);
	if (flags & (MREMAP_FIXED | MREMAP_MAYMOVE))
		preload_has_mapped(ret == MAP_FAILED ? start : ret, new_length);
	return ret;
}

/*
 * JITs may describe code before it is executable, and the kernel takes windows
 * for executable text only: this says when. The call goes to the next mprotect()
 * of the program; before this module has looked that up, to the kernel.
 */

EXPORT int mprotect(void *start, size_t length, int protection);
EXPORT int pkey_mprotect(void *start, size_t length, int protection, int key);

static int (*next_mprotect)(void *start, size_t length, int protection);
static int (*next_pkey_mprotect)(void *start, size_t length, int protection,
				 int key);

__attribute__((constructor)) static void look_up_mprotect(void)
{
	next_mprotect = (int (*)(void *, size_t, int))
		libc_next("mprotect");
	next_pkey_mprotect = (int (*)(void *, size_t, int, int))
		libc_next("pkey_mprotect");
}

static int protected(int ret, void *start, size_t length, int protection)
{
	if (!ret && (protection & PROT_EXEC))
		preload_has_mapped(start, length);
	return ret;
}

int mprotect(void *start, size_t length, int protection)
{
	int ret = next_mprotect ? next_mprotect(start, length, protection) :
		syscall(SYS_mprotect, start, length, protection);

	return protected(ret, start, length, protection);
}

int pkey_mprotect(void *start, size_t length, int protection, int key)
{
	int ret = next_pkey_mprotect ?
		next_pkey_mprotect(start, length, protection, key) :
		syscall(SYS_pkey_mprotect, start, length, protection, key);

	return protected(ret, start, length, protection);
}
