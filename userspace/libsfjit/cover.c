// SPDX-License-Identifier: MIT
/*
 * SPDX-FileCopyrightText: 2026 The sfjit authors
 *
 * Load the module of `sfjit run' into the running program.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>

#include "internal.h"

#define MODULE	"libsfjit-preload.so"

/* Weak: absent from statically linked programs. */
extern __typeof__(dlopen) dlopen __attribute__((weak));
extern __typeof__(dlsym) dlsym __attribute__((weak));
extern __typeof__(dladdr) dladdr __attribute__((weak));

/*
 * RTLD_LOCAL, so that no symbol of the program is preempted. Never unloaded, as
 * windows refer to its memory.
 */
static void *load_module(const char *path, int flags)
{
	return dlopen(path, RTLD_NOW | RTLD_LOCAL | RTLD_NODELETE | flags);
}

/*
 * Look next to this library, or next to the program if it is linked statically.
 */
static void *load_near(const char *below)
{
	char path[PATH_MAX];
	const char *slash;
	Dl_info info;
	int n;

	if (!dladdr((void *)load_near, &info) || !info.dli_fname)
		return NULL;
	slash = strrchr(info.dli_fname, '/');
	if (!slash)
		return NULL;
	n = snprintf(path, sizeof(path), "%.*s%s/" MODULE,
		     (int)(slash - info.dli_fname), info.dli_fname, below);
	return n > 0 && (size_t)n < sizeof(path) ? load_module(path, 0) : NULL;
}

/*
 * LIBDIR may be a subdirectory of PREFIX/lib, or next to the program's
 * directory.
 */
static void *find_module(void)
{
	static const char * const below[] = {
		"", "/sfjit", "/../sfjit", "/../lib/sfjit",
	};
	void *module = load_module(MODULE, RTLD_NOLOAD);
	size_t i;

	for (i = 0; !module && i < sizeof(below) / sizeof(*below); i++)
		module = load_near(below[i]);
	return module ? module : load_module(MODULE, 0);
}

int sfjit_cover_modules(unsigned int flags)
{
	int (*cover)(void), (*call)(int, ...);
	void *module;

	if (flags)
		return -EINVAL;
	if (!dlopen || !dlsym || !dladdr)
		return -ENOTSUP;
	module = find_module();
	if (!module)
		return -ENOENT;
	/* Through the module's prctl, its windows give way to ours. */
	call = (int (*)(int, ...))dlsym(module, "prctl");
	if (call)
		__atomic_store_n(&sfjit_prctl, call, __ATOMIC_RELAXED);
	cover = (int (*)(void))dlsym(module, "__sfjit_cover_modules");
	return cover ? cover() : -ENOENT;
}
