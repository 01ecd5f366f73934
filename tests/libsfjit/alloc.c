// SPDX-License-Identifier: MIT
/*
 * SPDX-FileCopyrightText: 2026 The sfjit authors
 *
 * Description: each allocation of each call fails once: the call returns
 * -ENOMEM, has changed nothing, and leaks nothing; the same call then succeeds.
 */
#include <sfjit/check.h>
#include <sfjit/epoch.h>
#include <sfjit/area.h>
#include <sfjit/names.h>
#include <sfjit/row_builder.h>

#include "prctl.h"

#define SP(offset)	SFJIT_REG(SFJIT_X86_64_SP, offset)
#define SAME		SFJIT_NO_RULE

static const struct sfjit_row rows[] = {
	{ 0, 0, SP(8), SAME, SAME },
	{ 1, 0, SP(16), SAME, SAME },
};

/* ---- The allocator ---------------------------------------------------- */

static unsigned int nr_asked, fail_at;	/* from 1 on; 0: none fails */
static long nr_held;			/* blocks that were not freed */

void *__real_malloc(size_t size);
void *__real_calloc(size_t nr, size_t size);
void *__real_realloc(void *memory, size_t size);
char *__real_strdup(const char *text);
void __real_free(void *memory);
void *__wrap_malloc(size_t size);
void *__wrap_calloc(size_t nr, size_t size);
void *__wrap_realloc(void *memory, size_t size);
char *__wrap_strdup(const char *text);
void __wrap_free(void *memory);

static bool fails(void)
{
	return ++nr_asked == fail_at;
}

static void *held(void *memory)
{
	nr_held += !!memory;
	return memory;
}

void *__wrap_malloc(size_t size)
{
	return fails() ? NULL : held(__real_malloc(size));
}

void *__wrap_calloc(size_t nr, size_t size)
{
	return fails() ? NULL : held(__real_calloc(nr, size));
}

void *__wrap_realloc(void *memory, size_t size)
{
	if (fails())
		return NULL;
	return memory ? __real_realloc(memory, size) :
			held(__real_realloc(NULL, size));
}

char *__wrap_strdup(const char *text)
{
	return fails() ? NULL : held(__real_strdup(text));
}

void __wrap_free(void *memory)
{
	nr_held -= !!memory;
	__real_free(memory);
}

/* ---- Calls ------------------------------------------------------------ */

static unsigned char *text;
static struct sfjit_function function;
static struct sfjit_code *code;
static struct sfjit_area *area, *published;
static struct sfjit_pool *pool;
static struct sfjit_area *windows;
static struct sfjit_epoch *epoch;
static struct sfjit_epoch_thread *thread;
static void *entry;

/* As in an object file, for 12 bytes of code at 32. */
static unsigned char eh_frame[] = {
	20, 0, 0, 0, 0, 0, 0, 0, 1, 0, 1, 0x78, 16,
	0x0c, 7, 8, 0x90, 1, 0, 0, 0, 0, 0, 0,
	28, 0, 0, 0, 28, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0,
	12, 0, 0, 0, 0, 0, 0, 0, 0x41, 0x0e, 16, 0x4a, 0x0e, 8, 0, 0,
	0, 0, 0, 0,
};

static int register_functions(void)
{
	return sfjit_register_functions(&function, 1, &code);
}

static int register_eh_frame(void)
{
	struct sfjit_range two[2] = { { text, 16 }, { text + 16, 16 } };

	return sfjit_register_eh_frame(eh_frame, sizeof(eh_frame), two, 2,
				       SFJIT_GAPS_CALLED, &code);
}

static void retire_code(void)
{
	IS("retire", sfjit_code_retire(code), 0);
	code = NULL;
}

static int create_area(void)
{
	return sfjit_area_create(text, 4096, 64, 4096, &area);
}

static void retire_area(void)
{
	IS("retire", sfjit_area_retire(area), 0);
	area = NULL;
}

static int publish_eh_frame(void)
{
	struct sfjit_range all = { text, 64 };

	return sfjit_area_publish_eh_frame(published, eh_frame,
					   sizeof(eh_frame), &all,
					   SFJIT_GAPS_CALLED, NULL);
}

static void take_back(void)
{
	IS("reset", sfjit_area_reset(published, NULL, 0), 0);
}

static int create_epoch(void)
{
	return sfjit_epoch_create(windows, 2, NULL, &epoch);
}

static void retire_epoch(void)
{
	IS("retire", sfjit_epoch_retire(epoch), 0);
	epoch = NULL;
}

static int join_epoch(void)
{
	return sfjit_epoch_join(epoch, &thread);
}

static void leave_epoch(void)
{
	IS("leave", sfjit_epoch_leave(thread), 0);
	thread = NULL;
}

static int create_pool(void)
{
	return sfjit_pool_create(SFJIT_TRAMP_SLOT, &pool);
}

static void retire_pool(void)
{
	IS("retire", sfjit_pool_retire(pool), 0);
	pool = NULL;
}

static int get_tramp(void)
{
	return sfjit_tramp_get(pool, (const void *)get_tramp, "alloc::name",
			       &entry);
}

static void put_tramp(void)
{
	IS("put", sfjit_tramp_put(pool, entry), 0);
	entry = NULL;
}

static char directory[] = "/tmp/lib-alloc-XXXXXX";

static int open_names(void)
{
	return sfjit_names_open(SFJIT_NAMES_MAP | SFJIT_NAMES_LOG |
				SFJIT_NAMES_JITDUMP, directory);
}

static void close_names(void)
{
	IS("close", sfjit_names_close(), 0);
}

static int load_name(void)
{
	return sfjit_names_load(&function, 256, "alloc::name");
}

static void drop_name(void)
{
	IS("drop", sfjit_names_drop(text, 32), 0);
}

static int grow_area(void)
{
	return sfjit_area_grow(area, text, 4096, 128, 16384);
}

/* What a failed call must not have created; @in_pool: or in an epoch. */
static bool nothing_is_made(bool in_pool)
{
	struct sfjit_area_info found = { 0 };
	struct sfjit_pool_info info = { 0 };

	if (published)
		sfjit_area_stat(published, &found);
	if (in_pool && pool)
		sfjit_pool_stat(pool, &info);
	return !code && !area && !entry && !thread && (in_pool || !pool) &&
	       (in_pool || !epoch) && !info.used && !found.functions;
}

/* @least: allocations that the call is known to make. */
static void each_fails(const char *name, int (*make)(void), void (*undo)(void),
		       unsigned int least, bool in_pool)
{
	unsigned int nr, failed = 0, other = 0, bad = 0, leaks = 0, left = 0;
	int windows = nr_windows, ret;
	long before;

	for (nr = 1;; nr++) {
		before = nr_held;
		nr_asked = 0;
		fail_at = nr;
		ret = make();
		if (nr_asked < nr)
			break;
		/* Failing to shrink memory is no error. */
		other += ret && ret != -ENOMEM;
		if (!ret) {
			undo();
		} else {
			failed++;
			left += !nothing_is_made(in_pool);
		}
		bad += nr_windows != windows;
		leaks += nr_held != before;
	}
	fail_at = 0;
	result(failed >= least, name, "%u of %u failed", failed, nr - 1);
	IS(name, ret, 0);
	IS(name, other, 0);
	IS(name, bad, 0);
	IS(name, leaks, 0);
	IS(name, left, 0);
	undo();
	IS(name, nr_held, before);
	IS(name, nr_windows, windows);
}

static void mapping_fails(const char *name, int (*make)(void),
			  void (*undo)(void))
{
	int windows = nr_windows;
	long before = nr_held;

	fail_call = "mmap";
	IS(name, make(), -ENOMEM);
	fail_call = NULL;
	IS(name, nr_windows, windows);
	IS(name, nr_held, before);
	TRUE(name, nothing_is_made(false));
	IS(name, make(), 0);
	undo();
}

/* The dump stays open and contains the name that could be written. */
static void test_names(void)
{
	char path[64];

	MUST(mkdtemp(directory));
	fail_call = "mmap";
	IS("jitdump without a mapping", open_names(), -ENOMEM);
	IS("no name is asked for", load_name(), 0);
	fail_call = NULL;
	each_fails("names_open", open_names, close_names, 0, false);
	MUST(!open_names());
	each_fails("names_load", load_name, drop_name, 1, false);
	close_names();
	snprintf(path, sizeof(path), "%s/jit-%d.dump", directory, getpid());
	IS("the dump", unlink(path), 0);
	snprintf(path, sizeof(path), "%s/jit-%d.retired", directory, getpid());
	IS("functions that are gone", unlink(path), 0);
	snprintf(path, sizeof(path), "/tmp/sfjit-%d.names", getpid());
	IS("the log", unlink(path), 0);
	IS("rmdir", rmdir(directory), 0);
}

/* The window keeps its section and functions. */
static void test_grow(void)
{
	struct sfjit_area_info before, after;
	int windows;

	MUST(!create_area());
	MUST(!sfjit_area_publish(area, &function));
	windows = nr_windows;
	IS("stat", sfjit_area_stat(area, &before), 0);
	fail_call = "mmap";
	IS("area_grow", grow_area(), -ENOMEM);
	fail_call = NULL;
	IS("stat", sfjit_area_stat(area, &after), 0);
	TRUE("area_grow: as before", before.table == after.table &&
	     before.room == after.room && before.functions == after.functions);
	IS("area_grow: the window", nr_windows, windows);
	nr_asked = 0;
	IS("area_grow", grow_area(), 0);
	IS("area_grow allocates nothing else", nr_asked, 0);
	IS("what was there is in the new one", sfjit_area_withdraw(area, text),
	   0);
	retire_area();
}

/* Options for the sanitizers. */
static void test_none(void)
{
	_Alignas(16) unsigned char section[256];
	struct sfjit_rows builder;
	struct sfjit_row array[4], row;
	struct sfjit_table table;
	struct sfjit_range range;
	long size;

	MUST(!create_area());
	nr_asked = 0;
	IS("publish", sfjit_area_publish(area, &function), 0);
	IS("withdraw", sfjit_area_withdraw(area, text), 0);
	size = sfjit_section_fill(section, sizeof(section), &function, 1);
	TRUE("fill", size > 0);
	table = (struct sfjit_table){ section, size, text, 32, 0, 0 };
	IS("check", sfjit_check(&table, NULL), 0);
	IS("find", sfjit_find_row(&table, text, NULL, &row, NULL), 0);
	sfjit_rows_init(&builder, array, 4);
	sfjit_rows_push(&builder, 1, 3);
	IS("rows", sfjit_rows_function(&builder, text, 8, &function), 0);
	IS("register", sfjit_register(1, section, size, text, 32), 0);
	IS("unregister", sfjit_unregister(1), 0);
	MUST(!sfjit_area_create(text, 8192, 0, 0, &windows));
	MUST(!create_epoch() && !join_epoch());
	nr_asked = 0;
	IS("begin", sfjit_epoch_begin(epoch, &range), 0);
	IS("unlink", sfjit_epoch_unlink(epoch, 0), 0);
	IS("quiescent", sfjit_epoch_quiescent(thread), 0);
	IS("reclaim", sfjit_epoch_reclaim(epoch), 1);
	IS("begin", sfjit_epoch_begin(epoch, &range), 1);
	IS("unlink", sfjit_epoch_unlink(epoch, 1), 0);
	TRUE("scan", sfjit_epoch_scan(epoch, SIGRTMIN, 5000, NULL, 0) >= 0);
	IS("none of them allocates", nr_asked, 0);
	retire_epoch();
	thread = NULL;
	MUST(!sfjit_area_retire(windows));
	retire_area();
}

int main(void)
{
	uint64_t start;

	present = true;
	text = mmap(NULL, 8192, PROT_READ | PROT_EXEC,
		    MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	MUST(text != MAP_FAILED);
	start = (uintptr_t)text;
	memcpy(eh_frame + 32, &start, sizeof(start));
	function = (struct sfjit_function){ start, 32, 2, rows, 0, 0 };
	each_fails("register_functions", register_functions, retire_code, 2,
		   false);
	each_fails("register_eh_frame", register_eh_frame, retire_code, 8,
		   false);
	MUST(!sfjit_area_create(text, 4096, 0, 0, &published));
	each_fails("area_publish_eh_frame", publish_eh_frame, take_back, 6,
		   false);
	MUST(!sfjit_area_retire(published));
	published = NULL;
	each_fails("area_create", create_area, retire_area, 1, false);
	MUST(!sfjit_area_create(text, 8192, 0, 0, &windows));
	each_fails("epoch_create", create_epoch, retire_epoch, 1, false);
	MUST(!create_epoch());
	each_fails("epoch_join", join_epoch, leave_epoch, 1, true);
	retire_epoch();
	MUST(!sfjit_area_retire(windows));
	each_fails("pool_create", create_pool, retire_pool, 1, false);
	MUST(!create_pool());
	each_fails("tramp_get", get_tramp, put_tramp, 1, true);
	retire_pool();
	mapping_fails("mapping of an area", create_area, retire_area);
	mapping_fails("mapping of a pool", create_pool, retire_pool);
	test_grow();
	test_names();
	test_none();
	unlink(map_path(getpid()));
	return finish();
}
