// SPDX-License-Identifier: MIT
// SPDX-FileCopyrightText: 2026 The sfjit authors
/*
 * The module that `sfjit run` has ld.so load into a program: registers SFrame
 * windows for all code that has .eh_frame, and follows dlopen().
 *
 * Why LD_PRELOAD: an auditor (LD_AUDIT) would see every load and unload, but
 * ld.so then lays out the thread-local storage before it knows the program's
 * libraries, theirs has to fit the small static surplus, and programs linked
 * with jemalloc and the like do not start.
 *
 * Why dlopen() is not interposed: it finds libraries by the RUNPATH, the
 * $ORIGIN and the namespace of its caller, which would be this module.
 */
#include <errno.h>
#include <stdbool.h>
#include <sys/auxv.h>

#include "arena.h"
#include "cache.h"
#include "divert.h"
#include "jit.h"
#include "libc.h"
#include "make_table.h"
#include "modules.h"
#include "preload.h"
#include "report.h"
#include "sys.h"
#include "windows.h"

extern char **environ;

static bool wanted;	/* there is a kernel or a user to tell */
static bool ready;
static struct lock lock;	/* of modules.c and its arena */
static struct arena arena;

/* Never waits: what is missed now is found by the next event. */
static bool try_lock(void)
{
	if (!lock_try(&lock))
		return false;
	arena_enter(&arena);
	return true;
}

static void follow_modules(bool fresh, bool stay)
{
	if (!sys_same_filters()) {
		ready = false;
		report_skipped("later modules",
			       "seccomp filter installed, or /proc hidden",
			       -EPERM);
		return;
	}
	if (!try_lock())
		return;
	modules_scan(false, fresh, stay);
	lock_release(&lock);
}

static void find_added(bool fresh, bool stay)
{
	int saved = errno;

	if (ready && modules_added())
		follow_modules(fresh, stay);
	errno = saved;
}

static void changed(void)
{
	find_added(true, true);
}

/* No memory is needed here, so the arena of an interrupted thread stays. */
void preload_will_map(const void *start, size_t length)
{
	int saved = errno;

	jit_replace(start, length);
	if (ready && lock_try(&lock)) {
		modules_replace((uintptr_t)start, (uintptr_t)start + length);
		lock_release(&lock);
	}
	errno = saved;
}

void preload_has_mapped(const void *start, size_t length)
{
	int saved = errno;

	jit_executable(start, length);
	if (ready && modules_replaced() && sys_same_filters() &&
	    lock_try(&lock)) {
		modules_executable((uintptr_t)start,
				   (uintptr_t)start + length);
		lock_release(&lock);
	}
	errno = saved;
}

/*
 * Where ld.so cannot tell us (divert.c), libraries do: each that is linked with
 * crti.o calls this function from its _init, where it exists: as the first of
 * its code that runs, with ld.so's lock held and all modules of the same
 * dlopen() mapped. gprof's own, in a program linked with -pg, comes first and is
 * called instead.
 */
__attribute__((visibility("default"))) void __gmon_start__(void);
void __gmon_start__(void)
{
	find_added(libc_single_threaded(), true);
}

/*
 * Modules that are there when the program starts are never unloaded. The library
 * loads this module later (sfjit_cover_modules()).
 */
static bool at_start(void)
{
	return strstr(sys_variable(environ, "LD_PRELOAD"), "libsfjit-preload");
}

/*
 * For the library, which looks it up here. By its name no program has another.
 * Returns 0, or -EPERM: nothing is registered any more.
 */
__attribute__((visibility("default"))) int __sfjit_cover_modules(void);
int __sfjit_cover_modules(void)
{
	if (wanted && !ready)
		return -EPERM;
	find_added(false, false);
	return 0;
}

__attribute__((visibility("default")))
int __sfjit_fill_cache(struct dl_phdr_info *info, enum cache cache,
		       struct fill *fill)
{
	int ret;

	if (!try_lock())
		return -EBUSY;
	ret = cache_open_only(cache);
	fill->reason = "the cache cannot be opened";
	if (!ret)
		ret = table_fill(info, fill);
	cache_close();
	lock_release(&lock);
	return ret;
}

__attribute__((visibility("default")))
int __sfjit_make_table(struct dl_phdr_info *info, int file,
		       enum table_effort effort, struct table *table,
		       const char **reason)
{
	struct image image;
	int ret;

	if (!try_lock())
		return -EBUSY;
	table_effort(effort);
	cache_open();
	ret = image_read_copy(&image, info, file, reason);
	if (!ret)
		ret = table_make(table, &image, reason);
	cache_close();
	lock_release(&lock);
	return ret;
}

/* ld.so's lock is held if this module is loaded later. */
static unsigned int scan_first(void)
{
	bool initial = at_start(), single = libc_single_threaded();

	return modules_scan(initial, single, single || !initial);
}

static void start_module(void)
{
	enum windows_kernel kernel = windows_kernel();

	/*
	 * A program that gains privileges must not go by variables and files of
	 * who started it. Only /etc/ld.so.preload has ld.so load us there.
	 */
	if (getauxval(AT_SECURE))
		return;
	cache_dir_init(environ);
	if (*sys_variable(environ, FILL_ONLY))
		return;
	report_init(environ);
	if (kernel != WINDOWS_KNOWN && !report_wanted())
		return;
	wanted = true;
	sys_same_filters();
	if (!try_lock())
		return;
	if (kernel == WINDOWS_OLD)
		report_skipped("all modules", "this kernel is older than "
			       "sfjit (see sfjit doctor)", -EOPNOTSUPP);
	if (report_wanted())
		units_count_rows();
	jit_begin();
	divert_loader(changed);
	report_ready(scan_first(), kernel);
	lock_release(&lock);
	ready = true;
}

__attribute__((constructor)) static void start_at_load(void)
{
	int saved = errno;

	start_module();
	errno = saved;
}
