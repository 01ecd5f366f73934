// SPDX-License-Identifier: MIT
// SPDX-FileCopyrightText: 2026 The sfjit authors
/*
 * Events of JITs, one at a time. The lock is not that of preload.c, which is
 * held while ld.so is waited for: a thread may be here that ld.so waits for.
 */
#include <errno.h>
#include <string.h>

#include "arena.h"
#include "cfi.h"
#include "covers.h"
#include "jit.h"
#include "libc.h"
#include "report.h"
#include "self.h"
#include "sys.h"
#include "units.h"

#define TABLE_MAX	65536

static bool ready;
static struct lock lock;
static pid_t holder;		/* thread that has it */
static struct arena arena = { .keeps = true };
static struct arena *arena_before;

/* Text became executable while the lock was not free. */
static bool missed;

static bool same_filters(void)
{
	if (sys_same_filters())
		return true;
	if (__atomic_exchange_n(&ready, false, __ATOMIC_RELAXED))
		report_skipped("later code of JITs",
			       "seccomp filter installed, or /proc hidden",
			       -EPERM);
	return false;
}

static void hold_jit_lock(void)
{
	arena_before = arena_enter(&arena);
	__atomic_store_n(&holder, SYS(SYS_gettid), __ATOMIC_RELAXED);
}

static void release_jit_lock(void)
{
	__atomic_store_n(&holder, 0, __ATOMIC_RELAXED);
	arena_enter(arena_before);
	lock_release(&lock);
}

static void tell_of_unit(uintptr_t key, enum unit_source source,
			 const struct unit_result *result)
{
	if (result->windows || result->waits || result->refused)
		report_code(key, source == UNIT_GDB, result, 0);
	else
		report_code_gone(key);
}

static void finish_event(void)
{
	arena_release();
	release_jit_lock();
}

static bool has_missed(void)
{
	return __atomic_load_n(&missed, __ATOMIC_SEQ_CST);
}

/*
 * If trylock fails, set the flag and retry. The holder unlocks, then checks the
 * flag. So one or the other handles the event.
 */
static void catch_up(void)
{
	while (has_missed() && lock_try(&lock)) {
		hold_jit_lock();
		if (__atomic_exchange_n(&missed, false, __ATOMIC_SEQ_CST)) {
			units_missed(tell_of_unit);
			covers_find_lost(0, UINTPTR_MAX);
		}
		finish_event();
	}
}

static void end_event(void)
{
	if (units_due())
		units_retry(tell_of_unit);
	finish_event();
	catch_up();
}

static bool is_holder(void)
{
	return __atomic_load_n(&holder, __ATOMIC_RELAXED) == SYS(SYS_gettid);
}

/* A signal handler may have interrupted the holder, and must not wait for it. */
static bool begin_event(void)
{
	if (!__atomic_load_n(&ready, __ATOMIC_ACQUIRE) || is_holder() ||
	    !same_filters())
		return false;
	lock_take(&lock);
	hold_jit_lock();
	return true;
}

/*
 * A fork() in a signal handler that interrupted the holder goes on: what it
 * copies can be used, with a window more or less.
 */
static void hold_at_fork(void)
{
	if (is_holder())
		return;
	lock_take(&lock);
	__atomic_store_n(&holder, 0, __ATOMIC_RELAXED);
}

static void release_after_fork(void)
{
	if (__atomic_load_n(&holder, __ATOMIC_RELAXED))
		return;
	lock_release(&lock);
	if (has_missed() && same_filters())
		catch_up();
}

void jit_begin(void)
{
	libc_at_fork(hold_at_fork, release_after_fork);
	__atomic_store_n(&ready, true, __ATOMIC_RELEASE);
}

static void publish_unit(const struct unit_cfi *cfi)
{
	uint64_t start = report_wanted() ? sys_clock_ns() : 0;
	struct unit_result result;
	const char *reason;
	int ret;

	ret = units_add(cfi, &result, &reason);
	if (ret)
		report_code_skipped(cfi->key, reason, ret);
	else
		report_code(cfi->key, cfi->source == UNIT_GDB, &result,
			    start ? sys_clock_ns() - start : 0);
}

static void add_frames(uintptr_t begin, uintptr_t group,
		       const struct jit_bases *bases)
{
	struct unit_cfi cfi = {
		.key = begin, .group = group, .source = UNIT_FRAMES,
	};
	const char *reason;
	int ret;

	if (bases) {
		cfi.flags = SFG_INPUT_BASES;
		cfi.text_base = (uintptr_t)bases->text;
		cfi.data_base = (uintptr_t)bases->data;
	}
	ret = cfi_read_frames(begin, &cfi.cfi, &reason);
	if (!ret)
		publish_unit(&cfi);
	else if (ret != -ENODATA)
		report_code_skipped(begin, reason, ret);
}

void jit_frames(const void *begin_, const struct jit_bases *bases)
{
	int saved = errno;

	if (begin_ && begin_event()) {
		add_frames((uintptr_t)begin_, (uintptr_t)begin_, bases);
		end_event();
	}
	errno = saved;
}

static void add_frame_table(uintptr_t table, const struct jit_bases *bases)
{
	uintptr_t at = table, frames;
	unsigned int i;

	for (i = 0; i < TABLE_MAX; i++, at += sizeof(frames)) {
		if (self_read(at, &frames, sizeof(frames)) != sizeof(frames)) {
			report_code_skipped(table, "the table of frames leaves "
					    "mapped memory", -EFAULT);
			return;
		}
		if (!frames)
			return;
		add_frames(frames, table, bases);
	}
	report_code_skipped(table, "the table of frames has no end", -E2BIG);
}

void jit_frame_table(const void *table, const struct jit_bases *bases)
{
	int saved = errno;

	if (table && begin_event()) {
		add_frame_table((uintptr_t)table, bases);
		end_event();
	}
	errno = saved;
}

static void remove_units(enum unit_source source, uintptr_t group)
{
	const struct units_removed removed = units_remove(source, group);

	if (removed.gone)
		report_code_gone(group);
	else if (removed.kept)
		report_code_kept(group);
}

void jit_frames_gone(const void *begin_)
{
	int saved = errno;

	if (begin_ && begin_event()) {
		remove_units(UNIT_FRAMES, (uintptr_t)begin_);
		end_event();
	}
	errno = saved;
}

/* gdb's manual, "Registering Code"; the numbers are of its version 1. */
struct gdb_descriptor {
	uint32_t version;
	uint32_t action;
	uintptr_t relevant, first;
};

struct gdb_entry {
	uintptr_t next, previous;
	uintptr_t file;
	uint64_t size;
};

#define GDB_VERSION	1
#define GDB_REGISTER	1
#define GDB_UNREGISTER	2

static bool read_descriptor(uintptr_t from, struct gdb_descriptor *d)
{
	if (self_read(from, d, sizeof(*d)) != sizeof(*d))
		return false;
	if (d->version == GDB_VERSION)
		return true;
	report_code_skipped(from, "unknown version of gdb's interface",
			    -EINVAL);
	return false;
}

static void add_entry(uintptr_t key, const struct gdb_entry *entry)
{
	struct unit_cfi cfi = {
		.key = key, .group = key, .source = UNIT_GDB,
	};
	const char *reason;
	int ret;

	ret = cfi_read_elf(entry->file, entry->size, &cfi, &reason);
	if (!ret)
		publish_unit(&cfi);
	else if (ret != -ENODATA)
		report_code_skipped(key, reason, ret);
}

static bool read_entry(uintptr_t from, struct gdb_entry *entry)
{
	if (self_read(from, entry, sizeof(*entry)) == sizeof(*entry))
		return true;
	report_code_skipped(from, "an entry of gdb's list is not in memory",
			    -EFAULT);
	return false;
}

static void follow_event(uintptr_t descriptor)
{
	struct gdb_descriptor d;
	struct gdb_entry entry;

	if (!read_descriptor(descriptor, &d))
		return;
	if (d.action == GDB_REGISTER && read_entry(d.relevant, &entry))
		add_entry(d.relevant, &entry);
	if (d.action == GDB_UNREGISTER)
		remove_units(UNIT_GDB, d.relevant);
}

/* Each entry leads back to the one before, so no list is endless. */
static void follow_list(uintptr_t descriptor)
{
	uintptr_t at, previous = 0;
	struct gdb_descriptor d;
	struct gdb_entry entry;

	if (!read_descriptor(descriptor, &d))
		return;
	for (at = d.first; at && read_entry(at, &entry); at = entry.next) {
		if (entry.previous != previous) {
			report_code_skipped(at, "gdb's list is broken",
					    -EINVAL);
			return;
		}
		add_entry(at, &entry);
		arena_release();
		previous = at;
	}
}

void jit_gdb_event(uintptr_t descriptor)
{
	int saved = errno;

	if (begin_event()) {
		follow_event(descriptor);
		end_event();
	}
	errno = saved;
}

void jit_gdb_list(uintptr_t descriptor)
{
	int saved = errno;

	if (begin_event()) {
		follow_list(descriptor);
		end_event();
	}
	errno = saved;
}

void jit_ends(const void *start, size_t length)
{
	int saved = errno;

	if (begin_event()) {
		covers_end((uintptr_t)start, (uintptr_t)start + length);
		report_code_ends((uintptr_t)start);
		end_event();
	}
	errno = saved;
}

int jit_give_way(const void *start_, size_t length, uintptr_t key,
		 int (*again)(void *request), void *request)
{
	uintptr_t start = (uintptr_t)start_;
	int ret = -EEXIST;

	if (!begin_event())
		return ret;
	if (covers_withdraw(start, start + length)) {
		ret = again(request);
		if (ret)
			covers_put_back(start, start + length);
		else
			covers_give_way(start, start + length, key);
	}
	end_event();
	return ret;
}

void jit_key_gone(uintptr_t key)
{
	if (covers_any_gave_way() && begin_event()) {
		covers_key_gone(key);
		end_event();
	}
}

static void executable(uintptr_t start, uintptr_t end_)
{
	if (lock_try(&lock)) {
		hold_jit_lock();
		units_executable(start, end_, tell_of_unit);
		covers_find_lost(start, end_);
		end_event();
		return;
	}
	__atomic_store_n(&missed, true, __ATOMIC_SEQ_CST);
	catch_up();
}

void jit_executable(const void *start, size_t length)
{
	int saved = errno;

	if (!__atomic_load_n(&ready, __ATOMIC_ACQUIRE) ||
	    (!units_waiting() && !covers_lost()))
		return;
	if (same_filters())
		executable((uintptr_t)start, (uintptr_t)start + length);
	errno = saved;
}

/* The next call handles events that were missed meanwhile. */
void jit_replace(const void *start, size_t length)
{
	int saved = errno;

	if (__atomic_load_n(&ready, __ATOMIC_ACQUIRE) && units_any() &&
	    same_filters() && lock_try(&lock)) {
		hold_jit_lock();
		units_replace((uintptr_t)start, (uintptr_t)start + length);
		finish_event();
	}
	errno = saved;
}
