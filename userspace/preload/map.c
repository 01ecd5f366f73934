// SPDX-License-Identifier: MIT
// SPDX-FileCopyrightText: 2026 The sfjit authors
/*
 * Text may become executable by being mapped, over a place for it that was
 * described before; what was there loses its windows. And there are libraries
 * whose JIT says nothing of its code, and uses the frame pointer for other
 * things: they map memory for it. The call goes to the next mmap() of the
 * program; before this module has looked that up, to the kernel.
 *
 * None of jit_executable(), jit_replace() and _dl_find_object() waits for a
 * lock: who maps memory may hold any.
 */
#include <limits.h>
#include <stdbool.h>
#include <string.h>

#include "jit.h"
#include "libc.h"
#include "sys.h"

#define EXPORT	__attribute__((visibility("default")))

typedef void *(*map)(void *start, size_t length, int protection, int flags,
		     int fd, off_t offset);

EXPORT void *mmap(void *start, size_t length, int protection, int flags,
		  int fd, off_t offset);
EXPORT void *mmap64(void *start, size_t length, int protection, int flags,
		    int fd, off64_t offset);

static map next_mmap;
static char program[PATH_MAX];	/* its path */

/*
 * PCRE2's compiler, sljit, has a register for each of its own. Mono's leaves out
 * frame pointers where it can, and uses rbp there.
 */
static const char *const without_fp[] = {
	"libpcre2-", "libmonosgen-", "libmonoboehm-", "mono-sgen", "mono-boehm",
	NULL
};

__attribute__((constructor)) static void look_up(void)
{
	int saved = errno;
	long n = SYS(SYS_readlinkat, AT_FDCWD, "/proc/self/exe", program,
		     sizeof(program) - 1);

	errno = saved;
	program[n > 0 ? n : 0] = '\0';
	next_mmap = (map)libc_next("mmap");
}

/* ld.so has no name for the program. */
static const char *file_name(const struct link_map *module)
{
	const char *path = *module->l_name ? module->l_name : program;
	const char *slash = strrchr(path, '/');

	return slash ? slash + 1 : path;
}

static bool is_without_fp(const void *caller)
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
	return *name;
}

static void *map_next(void *start, size_t length, int protection, int flags,
		      int fd, off_t offset)
{
	if (next_mmap)
		return next_mmap(start, length, protection, flags, fd, offset);
	return (void *)sys_mmap_errno(start, length, protection, flags, fd,
				      offset);
}

static void noticed(void *start, size_t length, int flags, const void *caller)
{
	if ((flags & MAP_ANONYMOUS) && is_without_fp(caller))
		jit_ends(start, length);
	else
		jit_executable(start, length);
}

static void *do_map(void *start, size_t length, int protection, int flags,
		    int fd, off_t offset, const void *caller)
{
	bool replaces = flags & MAP_FIXED;
	void *ret;

	if (replaces)
		jit_replace(start, length);
	ret = map_next(start, length, protection, flags, fd, offset);
	if (ret != MAP_FAILED && (protection & PROT_EXEC))
		noticed(ret, length, flags, caller);
	else if (replaces)
		jit_executable(start, length);
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
