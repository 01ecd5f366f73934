// SPDX-License-Identifier: MIT
/*
 * SPDX-FileCopyrightText: 2026 The sfjit authors
 *
 * Description: life of a pool of each kind: memory never writable and
 * executable, windows on demand, identity and reuse of trampolines, every
 * failure of the system calls under it. With a directory as argument it only
 * writes the table of a window of each kind to DIR/KIND.packed.
 */
#include <signal.h>

#include "test.h"

#include <sframegen.h>
#include <sfjit_trampoline.h>

#include "../../userspace/libsfjit/window.h"

/* Other machines have windows without sections. */
#define HAS_SECTIONS	sfg_abi_has_sframe(SFG_HOST_ABI)

/* ---- Fault injection and a look between the steps -------------------- */

static const char *fail_call;	/* fail this system call */
static int fail_at;		/* which of these calls, from 1 */
static int fail_with;
static int nr_writable_seals;	/* with no W and X page before */
static int max_wx;

int sfjit_fault(const char *call)
{
	int wx;

	if (!strcmp(call, "mprotect")) {
		wx = nr_wx_maps();
		max_wx = wx > max_wx ? wx : max_wx;
		nr_writable_seals++;
	}
	if (!fail_call || strcmp(call, fail_call) || --fail_at)
		return 0;
	fail_call = NULL;
	return fail_with;
}

static void inject(const char *call, int at, int error)
{
	fail_call = call;
	fail_at = at;
	fail_with = error;
}

static long target_a(void)
{
	return 'a';
}

static long target_b(void)
{
	return 'b';
}

static struct sfjit_pool *make(unsigned int kind)
{
	struct sfjit_pool *pool;

	MUST(!sfjit_pool_create(kind, &pool));
	return pool;
}

static unsigned char *get(struct sfjit_pool *pool, const void *target,
			  const char *name)
{
	void *entry;

	MUST(!sfjit_tramp_get(pool, target, name, &entry));
	return entry;
}

static struct sfjit_pool_info stat_of(struct sfjit_pool *pool)
{
	struct sfjit_pool_info stat;

	MUST(!sfjit_pool_stat(pool, &stat));
	return stat;
}

/* ---- Memory ---------------------------------------------------------- */

static size_t table_offset(unsigned int kind)
{
	return kind == SFJIT_TRAMP_SLOT ? 2 * SFJIT_WINDOW_SIZE :
					  SFJIT_WINDOW_SIZE;
}

/* qemu-user merges an executable page with the next one in maps. */
static bool shows_neighbours(void)
{
	size_t page = sysconf(_SC_PAGESIZE);
	char *two = mmap(NULL, 2 * page, PROT_READ | PROT_EXEC,
			 MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	bool shows;

	MUST(two != MAP_FAILED && !mprotect(two + page, page, PROT_READ));
	shows = has_perms(two + page, "r--p");
	munmap(two, 2 * page);
	return shows;
}

static void test_memory(unsigned int kind)
{
	struct sfjit_pool *pool = make(kind);
	unsigned char *code = get(pool, target_a, NULL);
	unsigned char *table = code + table_offset(kind);

	TRUE("first byte of code is r-x", has_perms(code, "r-xp"));
	TRUE("last byte of code is r-x",
	     has_perms(code + SFJIT_WINDOW_SIZE - 1, "r-xp"));
	if (HAS_SECTIONS && shows_neighbours())
		TRUE("table is read-only", has_perms(table, "r--p"));
	if (kind == SFJIT_TRAMP_SLOT) {
		TRUE("first byte of data is rw-",
		     has_perms(code + SFJIT_WINDOW_SIZE, "rw-p"));
		TRUE("last byte of data is rw-",
		     has_perms(table - 1, "rw-p"));
	}
	IS("no mapping is writable and executable", nr_wx_maps(), 0);
	IS("retire", sfjit_pool_retire(pool), 0);
	TRUE("code is unmapped", has_perms(code, ""));
	if (HAS_SECTIONS)
		TRUE("table is unmapped", has_perms(table, ""));
}

static void test_identical_slots(unsigned int kind)
{
	struct sfjit_pool *pool = make(kind);
	unsigned char *code = get(pool, target_a, NULL);
	int i, same = 0;

	for (i = 0; i < SFJIT_WINDOW_SLOTS; i++)
		same += !memcmp(code, code + i * SFJIT_SLOT_SIZE,
				SFJIT_SLOT_SIZE);
	IS("slots are identical", same, SFJIT_WINDOW_SLOTS);
	sfjit_pool_retire(pool);
}

/* AMD64's table: header, three rules, an index entry, a block, 8 bytes. */
#define LENGTH	(32 + 3 * 16 + 4 + 6 + 8)

static void test_table(unsigned int kind)
{
	struct sfjit_pool *pool = make(kind);
	unsigned char *code = get(pool, target_a, NULL);
	unsigned char *table = code + table_offset(kind);
	struct sframe_packed_header h;
	struct sfg_packed t;

	memcpy(&h, table, sizeof(h));
	TRUE("table starts with its magic",
	     !memcmp(table, "\x53\x50\x01\x03\x00", 5));
	IS("it repeats with the slot", h.repeat, SFJIT_SLOT_SIZE);
	IS("rules", h.nr_rules, 3);
	IS("it starts at the first slot", (long)h.text_start, (long)code);
	IS("it covers the window", h.text_length, SFJIT_WINDOW_SIZE);
	IS("one block of two changes", h.blocks_len, 6);
	IS("is all", sfg_open_packed(&t, table, LENGTH, NULL), 0);
	IS("nothing after the table", table[LENGTH], 0);
	sfjit_pool_retire(pool);
}

/* ---- Identity and reuse ---------------------------------------------- */

static void test_identity(unsigned int kind)
{
	struct sfjit_pool *pool = make(kind);
	unsigned char *one = get(pool, target_a, "same::name");

	TRUE("same target, same name: same trampoline",
	     get(pool, target_a, "same::name") == one);
	TRUE("same target, other name: other trampoline",
	     get(pool, target_a, "other::name") != one);
	TRUE("other target, same name: other trampoline",
	     get(pool, target_b, "same::name") != one);
	TRUE("no name and empty name are the same",
	     get(pool, target_a, NULL) == get(pool, target_a, ""));
	IS("trampolines in use", stat_of(pool).used, 4);
	IS("first put of two", sfjit_tramp_put(pool, one), 0);
	IS("still in use", stat_of(pool).used, 4);
	IS("second put of two", sfjit_tramp_put(pool, one), 0);
	IS("one less in use", stat_of(pool).used, 3);
	IS("third put of two", sfjit_tramp_put(pool, one), -ENOENT);
	TRUE("fresh ones are taken first",
	     get(pool, target_a, "same::name") != one);
	sfjit_pool_retire(pool);
}

static void test_put_arguments(void)
{
	struct sfjit_pool *pool = make(SFJIT_TRAMP_SLOT);
	struct sfjit_pool *other = make(SFJIT_TRAMP_SLOT);
	unsigned char *entry = get(pool, target_a, NULL);

	IS("put inside a slot", sfjit_tramp_put(pool, entry + 1), -EINVAL);
	IS("put a slot never given out",
	   sfjit_tramp_put(pool, entry + SFJIT_SLOT_SIZE), -ENOENT);
	IS("put to another pool", sfjit_tramp_put(other, entry), -EINVAL);
	IS("put NULL", sfjit_tramp_put(pool, NULL), -EINVAL);
	IS("put after the code",
	   sfjit_tramp_put(pool, entry + SFJIT_WINDOW_SIZE), -EINVAL);
	IS("put to no pool", sfjit_tramp_put(NULL, entry), -EINVAL);
	IS("put after all that", sfjit_tramp_put(pool, entry), 0);
	sfjit_pool_retire(pool);
	sfjit_pool_retire(other);
}

static void test_get_arguments(void)
{
	struct sfjit_pool *pool = make(SFJIT_TRAMP_SLOT);
	struct sfjit_pool *arg = make(SFJIT_TRAMP_ARG);
	void *entry = &entry;

	IS("get without target", sfjit_tramp_get(pool, NULL, "x", &entry),
	   -EINVAL);
	IS("get without pool", sfjit_tramp_get(NULL, target_a, "x", &entry),
	   -EINVAL);
	IS("get without result", sfjit_tramp_get(pool, target_a, "x", NULL),
	   -EINVAL);
	TRUE("failed get leaves its result alone", entry == &entry);
	IS("get without target where none is stored",
	   sfjit_tramp_get(arg, NULL, NULL, &entry), 0);
	IS("unknown kind", sfjit_pool_create(5, &pool), -EINVAL);
#ifndef SFJIT_TRAMP_SIGNED_A_CODE_SIZE
	IS("kind of another machine",
	   sfjit_pool_create(SFJIT_TRAMP_SIGNED_A, &pool), -EOPNOTSUPP);
	IS("and another", sfjit_pool_create(SFJIT_TRAMP_SIGNED_B, &pool),
	   -EOPNOTSUPP);
#endif
	IS("create without result", sfjit_pool_create(0, NULL), -EINVAL);
	IS("retire nothing", sfjit_pool_retire(NULL), 0);
	IS("stat of nothing", sfjit_pool_stat(NULL, NULL), -EINVAL);
	IS("stat to nothing", sfjit_pool_stat(pool, NULL), -EINVAL);
	sfjit_pool_retire(pool);
	sfjit_pool_retire(arg);
}

/* Each target is its own number: &numbers[i]. */
static char numbers[3 * SFJIT_WINDOW_SLOTS];

#define TWO_WINDOWS	(2 * SFJIT_WINDOW_SLOTS)

static void fill_window(struct sfjit_pool *pool, int from,
			unsigned char **entries)
{
	int i;

	for (i = from; i < from + SFJIT_WINDOW_SLOTS; i++)
		entries[i] = get(pool, &numbers[i], NULL);
}

static int nr_distinct(unsigned char **entries, int n)
{
	int i, j, nr = 0;

	for (i = 0; i < n; i++) {
		for (j = 0; j < i && entries[j] != entries[i]; j++)
			;
		nr += j == i;
	}
	return nr;
}

static void test_growth(void)
{
	static unsigned char *entries[TWO_WINDOWS];
	struct sfjit_pool *pool = make(SFJIT_TRAMP_SLOT);
	unsigned char *third;

	fill_window(pool, 0, entries);
	IS("a window full of trampolines: one window", stat_of(pool).windows,
	   1);
	fill_window(pool, SFJIT_WINDOW_SLOTS, entries);
	IS("twice as many: two windows", stat_of(pool).windows, 2);
	IS("both are registered", stat_of(pool).registered,
	   HAS_SECTIONS ? 2 : 0);
	IS("all are in use", stat_of(pool).used, TWO_WINDOWS);
	IS("all are distinct", nr_distinct(entries, TWO_WINDOWS), TWO_WINDOWS);
	TRUE("found again after the table grew",
	     get(pool, &numbers[SFJIT_WINDOW_SLOTS + 904], NULL) ==
	     entries[SFJIT_WINDOW_SLOTS + 904]);

	IS("put 7", sfjit_tramp_put(pool, entries[7]), 0);
	IS("put 5", sfjit_tramp_put(pool, entries[5]), 0);
	TRUE("longest unused first", get(pool, target_a, NULL) == entries[7]);
	TRUE("then the next", get(pool, target_b, NULL) == entries[5]);
	IS("a reused one calls its new target",
	   ((long (*)(void))entries[7])(), 'a');
	third = get(pool, &numbers[TWO_WINDOWS], NULL);
	IS("one more: a third window", stat_of(pool).windows, 3);
	if (shows_neighbours())
		TRUE("third window is executable", has_perms(third, "r-xp"));
	IS("retire three windows", sfjit_pool_retire(pool), 0);
	TRUE("first is unmapped", has_perms(entries[0], ""));
	TRUE("third is unmapped", has_perms(third, ""));
}

/* The test build has a lower limit than the library. */
static void test_too_many_gets(void)
{
	struct sfjit_pool *pool = make(SFJIT_TRAMP_SLOT);
	unsigned char *entry = NULL;
	void *another = NULL;
	int i, puts = 0;

	for (i = 0; i < 1000; i++)
		entry = get(pool, target_a, NULL);
	IS("got too many times",
	   sfjit_tramp_get(pool, target_a, NULL, &another), -EOVERFLOW);
	TRUE("and no trampoline is returned", !another);
	while (!sfjit_tramp_put(pool, entry))
		puts++;
	IS("as many puts as gets", puts, 1000);
	sfjit_pool_retire(pool);
}

static int call_after_put(void)
{
	struct sfjit_pool *pool = make(SFJIT_TRAMP_SLOT);
	unsigned char *entry = get(pool, target_a, NULL);

	sfjit_tramp_put(pool, entry);
	signal(SIGSEGV, SIG_DFL);
	((long (*)(void))entry)();
	return 0;
}

/* ---- Failures of the system ------------------------------------------ */

static void test_create_fails(const char *name, const char *call, int at,
			      int error)
{
	struct sfjit_pool *pool = (void *)&pool;

	inject(call, at, error);
	IS(name, sfjit_pool_create(SFJIT_TRAMP_SLOT, &pool), error);
	TRUE("and no pool is returned", pool == (void *)&pool);
	TRUE("the fault was hit", !fail_call);
}

/* The pool must stay usable when a window cannot be created. */
static void test_growth_fails(const char *name, const char *call, int at,
			      int error)
{
	static unsigned char *entries[SFJIT_WINDOW_SLOTS];
	struct sfjit_pool *pool = make(SFJIT_TRAMP_ARG);
	void *entry = &entry;

	fill_window(pool, 0, entries);
	inject(call, at, error);
	IS(name, sfjit_tramp_get(pool, target_a, "grow", &entry), error);
	TRUE("and no trampoline is returned", entry == &entry);
	IS("and the old window is there", stat_of(pool).windows, 1);
	IS("and nothing new is in use", stat_of(pool).used, SFJIT_WINDOW_SLOTS);
	IS("and the next try works",
	   sfjit_tramp_get(pool, target_a, "grow", &entry), 0);
	sfjit_pool_retire(pool);
}

static void test_unmap_fails(void)
{
	struct sfjit_pool *pool = make(SFJIT_TRAMP_ARG);
	unsigned char *code = get(pool, target_a, NULL);

	inject("munmap", 1, -ENOMEM);
	IS("munmap fails", sfjit_pool_retire(pool), -ENOMEM);
	TRUE("the code stays mapped", has_perms(code, "r-xp"));
	munmap(code, SFJIT_WINDOW_SIZE +
	       (HAS_SECTIONS ? sysconf(_SC_PAGESIZE) : 0));
}

static void test_names_fail(void)
{
	struct sfjit_pool *pool = make(SFJIT_TRAMP_SLOT);
	void *entry;

	inject("open", 1, -EMFILE);
	IS("get without a perf map",
	   sfjit_tramp_get(pool, target_a, "no file", &entry), 0);
	inject("write", 1, -ENOSPC);
	IS("get with a full disk",
	   sfjit_tramp_get(pool, target_a, "full disk", &entry), 0);
	IS("it works", ((long (*)(void))entry)(), 'a');
	inject("open", 1, -EMFILE);
	IS("name without a perf map",
	   sfjit_perf_map_name(entry, 16, "abc"), -EMFILE);
	inject("write", 1, -ENOSPC);
	IS("name with a full disk",
	   sfjit_perf_map_name(entry, 16, "abc"), -ENOSPC);
	sfjit_pool_retire(pool);
}

static void test_faults(void)
{
	test_create_fails("mmap fails", "mmap", 1, -ENOMEM);
	test_create_fails("mprotect of the table fails", "mprotect", 1,
			  -ENOMEM);
	test_create_fails("mprotect of the code fails", "mprotect",
			  HAS_SECTIONS ? 2 : 1, -EACCES);
	test_growth_fails("mmap of a second window fails", "mmap", 1, -ENOMEM);
	test_growth_fails("mprotect of a second window fails", "mprotect",
			  HAS_SECTIONS ? 2 : 1, -EPERM);
	test_unmap_fails();
	test_names_fail();
}

static void write_table(const char *directory, const char *name,
			unsigned int kind)
{
	struct sfjit_pool *pool = make(kind);
	unsigned char *table = get(pool, target_a, NULL) + table_offset(kind);
	char path[4096];
	FILE *file;

	snprintf(path, sizeof(path), "%s/%s.packed", directory, name);
	file = fopen(path, "w");
	MUST(file && fwrite(table, LENGTH, 1, file) == 1 && !fclose(file));
	sfjit_pool_retire(pool);
}

int main(int argc, char **argv)
{
	unsigned int kind;

	if (argc > 1) {
		write_table(argv[1], "arg", SFJIT_TRAMP_ARG);
		write_table(argv[1], "slot", SFJIT_TRAMP_SLOT);
		write_table(argv[1], "rbp", SFJIT_TRAMP_RBP);
		not_the_test();
		return 0;
	}
	for (kind = 0; kind < 3; kind++) {
		test_memory(kind);
		test_identical_slots(kind);
		test_identity(kind);
		if (SFG_HOST_ABI == SFRAME_ABI_AMD64_LE)
			test_table(kind);
	}
	test_put_arguments();
	test_get_arguments();
	test_growth();
	test_too_many_gets();
	IS("a trampoline given back calls address 0",
	   in_child(call_after_put), 256 + SIGSEGV);
	test_faults();
	IS("nothing writable and executable before any mprotect", max_wx, 0);
	TRUE("which was looked at", nr_writable_seals >= 18);
	unlink(map_path(getpid()));
	return finish();
}
