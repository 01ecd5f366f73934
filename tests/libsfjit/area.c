// SPDX-License-Identifier: MIT
/*
 * SPDX-FileCopyrightText: 2026 The sfjit authors
 *
 * Description: areas: functions in any order, against a model and as the kernel
 * looks them up; each refusal; no system call; concurrent threads; a reader
 * while others change the area. Runs with ASan and UBSan, and with TSan.
 */
#include <pthread.h>
#include <stdatomic.h>
#include <stddef.h>
#include <sys/syscall.h>
#include <linux/prctl.h>
#include <linux/seccomp.h>

#include <sfjit/area.h>
#include <sfjit/check.h>
#include <sframegen.h>

#include "prctl.h"

#define SP(offset)	SFJIT_REG(SFJIT_X86_64_SP, offset)
#define SAME		SFJIT_NO_RULE

/* Not mapped: neither the library nor this test accesses the text. */
#define TEXT		0x7e0000001000UL
#define LENGTH		0x4000UL

#define MANY		200

static struct sfjit_row many[MANY];
static const struct sfjit_row few[] = {
	{ 0, 0, SP(8), SAME, SAME },
	{ 1, 0, SP(16), SAME, SFJIT_SAVED(-16) },
	{ 4, 0, SP(48), SAME, SFJIT_SAVED(-16) },
};

static struct sfjit_function of_size(uint64_t addr, uint32_t size)
{
	return (struct sfjit_function){
		.addr = addr, .size = size, .rows = few,
		.nr_rows = size > 4 ? 3 : size > 1 ? 2 : 1,
	};
}

static struct sfjit_function of_many(uint64_t addr, uint32_t nr, uint32_t step)
{
	uint32_t i;

	for (i = 0; i < MANY; i++) {
		many[i] = few[i % 3];
		many[i].start = i * step;
		many[i].cfa.offset = 16 + i % 10 * 8;
	}
	return (struct sfjit_function){
		.addr = addr, .size = (nr - 1) * step + 1, .rows = many,
		.nr_rows = nr,
	};
}

static struct sfjit_area *create(unsigned int granule, unsigned int rows)
{
	struct sfjit_area *area;

	MUST(!sfjit_area_create((void *)TEXT, LENGTH, granule, rows, &area));
	return area;
}

/* ---- As the kernel looks --------------------------------------------- */

/* The index of the last entry at or before @ip; -1: not sorted. */
static int find_entry(const unsigned char *section, uint64_t ip, uint32_t *size,
		      uint64_t *start)
{
	const struct sframe_header *header = (const void *)section;
	const uint64_t *index = (const uint64_t *)(section + sizeof(*header) +
						   header->fdes_off);
	uint64_t low = 0, high = header->num_fdes, lowest = 0;
	uint64_t highest = UINT64_MAX, mid, at, rest;

	*size = 0;
	while (low < high) {
		mid = (low + high) / 2;
		at = __atomic_load_n(&index[2 * mid], __ATOMIC_ACQUIRE) +
		     (uintptr_t)&index[2 * mid];
		if (at < lowest || at > highest)
			return -1;
		if (at > ip) {
			highest = at;
			high = mid;
		} else {
			lowest = at;
			low = mid + 1;
		}
	}
	if (low) {
		/* The size is first in memory, in either byte order. */
		rest = __atomic_load_n(&index[2 * low - 1], __ATOMIC_ACQUIRE);
		memcpy(size, &rest, sizeof(*size));
	}
	*start = lowest;
	return low;
}

static struct sfjit_area_info stat_of(const struct sfjit_area *area)
{
	struct sfjit_area_info stat;

	MUST(!sfjit_area_stat(area, &stat));
	return stat;
}

static const struct sfjit_row *row_of(const struct sfjit_function *function,
				      uint32_t offset)
{
	const struct sfjit_row *row = function->rows;
	uint32_t i;

	if (function->repeat)
		offset %= function->repeat;
	for (i = 1; i < function->nr_rows; i++)
		if (function->rows[i].start <= offset)
			row = &function->rows[i];
	return row;
}

/* Whether an address has the row of @function, or no entry if that is NULL. */
static bool is_at(const struct sfjit_area *area, uint64_t ip,
		  const struct sfjit_function *function)
{
	struct sfjit_area_info stat = stat_of(area);
	uint64_t start;
	uint32_t size;
	struct sfg_section section;
	struct sfjit_function fde;
	struct sfjit_row row;
	int found = find_entry(stat.section, ip, &size, &start);

	if (found < 0)
		return false;
	if (!function)
		return ip - start >= size;
	if (ip - start >= size ||
	    sfg_open_section(&section, stat.section, stat.length,
			     (uintptr_t)stat.section, NULL) ||
	    sfg_find_row(&section, ip, &fde, &row, NULL))
		return false;
	return sfg_rows_equal(&row, row_of(function, ip - function->addr));
}

/* ---- Against a model ------------------------------------------------- */

static uint32_t random_state = 12345;

static uint32_t random_below(uint32_t limit)
{
	random_state = random_state * 1103515245 + 12345;
	return (random_state >> 8) % limit;
}

#define NR_MODEL	64

static struct sfjit_function model[NR_MODEL];
static unsigned int granule;

static bool overlap(const struct sfjit_function *a,
		    const struct sfjit_function *b)
{
	uint64_t last = (a->addr + a->size - 1) / granule;

	if (!a->size || !b->size)
		return false;
	if (a->addr / granule == b->addr / granule)
		return true;
	if (a->nr_rows > 64 && b->addr / granule == last)
		return true;
	return a->addr < b->addr + b->size && b->addr < a->addr + a->size;
}

static int expected(const struct sfjit_function *f)
{
	int i;

	if (f->addr + f->size > TEXT + LENGTH)
		return -EINVAL;
	for (i = 0; i < NR_MODEL; i++)
		if (overlap(f, &model[i]) || overlap(&model[i], f))
			return -EEXIST;
	return 0;
}

static struct sfjit_function random_function(void)
{
	uint64_t addr = TEXT + random_below(LENGTH);

	switch (random_below(8)) {
	case 0:
		return of_many(addr, 65 + random_below(MANY - 65), 4);
	case 1:
		return of_size(addr, 1 + random_below(1500));
	default:
		return of_size(addr, 1 + random_below(150));
	}
}

static const struct sfjit_function *model_at(uint64_t ip)
{
	int i;

	for (i = 0; i < NR_MODEL; i++)
		if (ip - model[i].addr < model[i].size)
			return &model[i];
	return NULL;
}

static unsigned int wrong_addresses(const struct sfjit_area *area)
{
	unsigned int wrong = 0;
	uint64_t ip;

	for (ip = TEXT; ip < TEXT + LENGTH; ip += 3)
		wrong += !is_at(area, ip, model_at(ip));
	return wrong;
}

static unsigned int nr_model(void)
{
	unsigned int i, nr = 0;

	for (i = 0; i < NR_MODEL; i++)
		nr += model[i].size != 0;
	return nr;
}

static void test_model(unsigned int size)
{
	struct sfjit_area *area;
	unsigned int i, slot, wrong = 0, refused = 0, published = 0;
	struct sfjit_function f;
	int want, ret;

	granule = size;
	memset(model, 0, sizeof(model));
	area = create(size, 32);
	for (i = 0; i < 4000; i++) {
		slot = random_below(NR_MODEL);
		if (model[slot].size) {
			ret = sfjit_area_withdraw(area,
						  (void *)model[slot].addr);
			wrong += ret != 0;
			model[slot].size = 0;
		} else {
			f = random_function();
			want = expected(&f);
			ret = sfjit_area_publish(area, &f);
			wrong += ret != want;
			refused += ret == -EEXIST;
			published += !ret;
			if (!ret)
				model[slot] = f;
		}
		if (i % 64 == 0)
			wrong += wrong_addresses(area);
	}
	wrong += stat_of(area).functions != nr_model();
	result(!wrong && refused > 100 && published > 500, "as the model",
	       "granule %u: %u wrong, %u refused, %u published", size, wrong,
	       refused, published);
	IS("reset", sfjit_area_reset(area, NULL, 0), 0);
	memset(model, 0, sizeof(model));
	IS("nothing is left", wrong_addresses(area), 0);
	IS("no function", stat_of(area).functions, 0);
	sfjit_area_retire(area);
}

/* ---- One by one ------------------------------------------------------ */

static void test_arguments(void)
{
	void *text = (void *)TEXT;
	struct sfjit_area *area = NULL;

	IS("no result", sfjit_area_create(text, 64, 0, 0, NULL), -EINVAL);
	IS("no text", sfjit_area_create(NULL, 64, 0, 0, &area), -EINVAL);
	IS("no length", sfjit_area_create(text, 0, 0, 0, &area), -EINVAL);
	IS("wraps", sfjit_area_create((void *)-64L, 65, 0, 0, &area), -EINVAL);
	IS("8", sfjit_area_create(text, 64, 8, 0, &area), -EINVAL);
	IS("48", sfjit_area_create(text, 64, 48, 0, &area), -EINVAL);
	IS("128", sfjit_area_create(text, 64, 128, 0, &area), -EINVAL);
	IS("text is no multiple", sfjit_area_create((void *)(TEXT + 16), 64,
						    32, 0, &area), -EINVAL);
	IS("granules", sfjit_area_create(text, (16UL << 24) + 1, 16, 0, &area),
	   -E2BIG);
	IS("rows", sfjit_area_create(text, 64, 16, 1025, &area), -E2BIG);
	IS("section", sfjit_area_create(text, 64UL << 24, 64, 1024, &area),
	   -E2BIG);
	TRUE("nothing was made", !area);
	fail_call = "mmap";
	IS("memory", sfjit_area_create(text, 64, 0, 0, &area), -ENOMEM);
	fail_call = NULL;
	IS("retire nothing", sfjit_area_retire(NULL), 0);
	IS("publish nothing", sfjit_area_publish(NULL, NULL), -EINVAL);
	IS("withdraw nothing", sfjit_area_withdraw(NULL, text), -EINVAL);
	IS("reset nothing", sfjit_area_reset(NULL, text, 1), -EINVAL);
	IS("look at nothing", sfjit_area_stat(NULL, NULL), -EINVAL);
}

static void test_refusals(void)
{
	struct sfjit_area *area = create(64, 16);
	struct sfjit_function f = of_size(TEXT + 0x100, 0x80);

	IS("publish", sfjit_area_publish(area, &f), 0);
	IS("twice", sfjit_area_publish(area, &f), -EEXIST);
	f = of_size(TEXT + 0x13f, 1);
	IS("inside", sfjit_area_publish(area, &f), -EEXIST);
	f = of_size(TEXT + 0x17f, 10);
	IS("its last byte", sfjit_area_publish(area, &f), -EEXIST);
	f = of_size(TEXT + 0x180, 10);
	IS("after it", sfjit_area_publish(area, &f), 0);
	f = of_size(TEXT + 0x1a0, 10);
	IS("same granule", sfjit_area_publish(area, &f), -EEXIST);
	f = of_size(TEXT + 0xf0, 0x11);
	IS("into it", sfjit_area_publish(area, &f), -EEXIST);
	f = of_size(TEXT + 0xf0, 0x10);
	IS("up to it", sfjit_area_publish(area, &f), 0);
	f = of_size(TEXT - 1, 10);
	IS("in front", sfjit_area_publish(area, &f), -EINVAL);
	f = of_size(TEXT + LENGTH - 9, 10);
	IS("over the end", sfjit_area_publish(area, &f), -EINVAL);
	f = of_size(TEXT + LENGTH - 9, 9);
	IS("to the end", sfjit_area_publish(area, &f), 0);
	f.size = 0;
	IS("empty", sfjit_area_publish(area, &f), -EINVAL);
	f = of_many(TEXT + 0x400, 30, 1);
	IS("too many for a granule", sfjit_area_publish(area, &f), -E2BIG);
	TRUE("nothing was written", is_at(area, TEXT + 0x400, NULL));
	f = of_many(TEXT + 0x400, 100, 8);
	IS("many in many", sfjit_area_publish(area, &f), 0);
	f.addr += 0x1000;
	f.repeat = 200;
	IS("that repeat", sfjit_area_publish(area, &f), -E2BIG);
	IS("other start", sfjit_area_withdraw(area, (void *)(TEXT + 0x101)),
	   -ENOENT);
	IS("outside", sfjit_area_withdraw(area, (void *)(TEXT - 1)), -ENOENT);
	IS("withdraw", sfjit_area_withdraw(area, (void *)(TEXT + 0x100)), 0);
	IS("again", sfjit_area_withdraw(area, (void *)(TEXT + 0x100)), -ENOENT);
	IS("four are left", stat_of(area).functions, 4);
	IS("no start", sfjit_area_reset(area, NULL, 1), -EINVAL);
	IS("no length", sfjit_area_reset(area, (void *)TEXT, 0), -EINVAL);
	IS("too far", sfjit_area_reset(area, (void *)TEXT, LENGTH + 1),
	   -EINVAL);
	IS("a part", sfjit_area_reset(area, (void *)(TEXT + 0xf1), 0x90), 0);
	IS("one of it", stat_of(area).functions, 3);
	sfjit_area_retire(area);
}

/* ---- What a fork cuts off --------------------------------------------- */

/* The size of a granule's function, stored after the section. */
static uint32_t *size_of(const struct sfjit_area *area, uint32_t granule)
{
	struct sfjit_area_info stat = stat_of(area);

	return (uint32_t *)((char *)stat.section + (stat.length + 7) / 8 * 8) +
	       granule;
}

/* As if a fork came after the size was stored and before the entry. */
static void cut_off(struct sfjit_area *area, uint32_t granule, uint32_t size)
{
	IS("was not in use", *size_of(area, granule), 0);
	*size_of(area, granule) = size;
}

static void test_fork(void)
{
	struct sfjit_area *area = create(64, 0);
	struct sfjit_function next = of_size(TEXT + 0x150, 0x100);
	struct sfjit_function f = of_size(TEXT + 0x110, 0x40);

	IS("a neighbour", sfjit_area_publish(area, &next), 0);
	cut_off(area, 4, 0x40);
	IS("is not counted", stat_of(area).functions, 1);
	IS("is not there", sfjit_area_withdraw(area, (void *)f.addr), -ENOENT);
	IS("can be published", sfjit_area_publish(area, &f), 0);
	IS("and taken back", sfjit_area_withdraw(area, (void *)f.addr), 0);
	cut_off(area, 4, 0x400);
	IS("reset beside it", sfjit_area_reset(area, (void *)(TEXT + 0x120),
					       0x28), 0);
	IS("it may be somebody's", *size_of(area, 4), 0x400);
	IS("reset", sfjit_area_reset(area, (void *)(TEXT + 0x100), 0x40), 0);
	IS("it is nobody's", *size_of(area, 4), 0);
	TRUE("the neighbour is whole", is_at(area, TEXT + 0x150, &next) &&
	     is_at(area, TEXT + 0x24f, &next));
	IS("and is known", sfjit_area_withdraw(area, (void *)next.addr), 0);
	sfjit_area_retire(area);
}

static void test_check(void)
{
	struct sfjit_area *area = create(16, 0);
	struct sfjit_function f = of_size(TEXT + 0x108, 0x80);
	struct sfjit_table table = {
		stat_of(area).section, stat_of(area).length, (void *)TEXT,
		LENGTH, SFJIT_TABLE_LIVE, 0,
	};
	struct sfjit_complaint why;

	IS("no function is no mistake", sfjit_check(&table, &why), 0);
	MUST(!sfjit_area_publish(area, &f));
	IS("nor are the entries of one", sfjit_check(&table, &why), 0);
	f = of_many(TEXT + 0x1000, MANY, 7);
	MUST(!sfjit_area_publish(area, &f));
	IS("nor those of a long one", sfjit_check(&table, &why), 0);
	sfjit_area_retire(area);
}

static void test_kernel(void)
{
	struct sfjit_area *area = create(16, 0);

	IS("live", call.opts.flags, SFRAME_WINDOW_LIVE);
	IS("key", call.key, TEXT);
	IS("text", call.opts.text_start, TEXT);
	IS("its length", call.opts.text_length, LENGTH);
	IS("all entries are counted", call.header.num_fdes, LENGTH / 16);
	IS("index", call.header.fres_off - call.header.fdes_off, LENGTH);
	IS("aligned", (call.address + sizeof(call.header) +
		       call.header.fdes_off) % 16, 0);
	TRUE("section", call.address == (uintptr_t)stat_of(area).section &&
	     call.length == stat_of(area).length);
	IS("no error", stat_of(area).error, 0);
	sfjit_area_retire(area);
	IS("unregistered", nr_windows, 0);
	next_error = EEXIST;
	area = create(16, 0);
	IS("error", stat_of(area).error, -EEXIST);
	sfjit_area_retire(area);
	IS("nothing to unregister", nr_windows, 0);
}

/* Seccomp's strict mode kills the process for any other system call. */
static int publish_strictly(void)
{
	struct sfjit_area *area = create(64, 0);
	struct sfjit_function f = of_many(TEXT + 0x1000, MANY, 7);

	if (syscall(SYS_prctl, PR_SET_SECCOMP,
		    SECCOMP_MODE_STRICT))
		return 77;
	if (sfjit_area_publish(area, &f) ||
	    sfjit_area_withdraw(area, (void *)f.addr) ||
	    sfjit_area_reset(area, NULL, 0))
		syscall(SYS_exit, 1);
	syscall(SYS_exit, 0);
	return 2;
}

/* ---- Threads --------------------------------------------------------- */

#define NR_THREADS	4
#define ROUNDS		3000

static struct sfjit_area *shared;
static atomic_bool stop;

/* Each thread has 1 KiB of its own, next to the others'. */
static void *work(void *arg)
{
	uint64_t text = TEXT + (uintptr_t)arg * 1024;
	uint32_t seed = (uintptr_t)arg;
	struct sfjit_function f;
	unsigned long wrong = 0;
	int i;

	for (i = 0; i < ROUNDS; i++) {
		seed = seed * 1103515245 + 12345;
		f = of_size(text + (seed >> 8) % 500, 100 + (seed >> 20) % 400);
		wrong += sfjit_area_publish(shared, &f) != 0;
		wrong += sfjit_area_withdraw(shared, (void *)f.addr) != 0;
	}
	return (void *)wrong;
}

/*
 * Looks up a function beside those that come and go. A momentarily unsorted
 * index may end a walk; it must never lead to another entry.
 */
static void *look(void *arg)
{
	const unsigned char *section = stat_of(shared).section;
	uint64_t ip = TEXT + NR_THREADS * 1024 + 100, start;
	uint32_t size;
	unsigned long wrong = 0, unsorted = 0, looks = 0;

	while (!atomic_load(&stop)) {
		looks++;
		if (find_entry(section, ip, &size, &start) < 0)
			unsorted++;
		else if (start != ip - 100 || size != 200)
			wrong++;
	}
	return (void *)(uintptr_t)(wrong || unsorted * 1000 > looks);
}

static void test_threads(void)
{
	struct sfjit_function f = of_size(TEXT + NR_THREADS * 1024, 200);
	pthread_t threads[NR_THREADS], reader;
	unsigned long wrong = 0;
	uintptr_t i;
	void *ret;

	shared = create(16, 0);
	MUST(!sfjit_area_publish(shared, &f));
	MUST(!pthread_create(&reader, NULL, look, NULL));
	for (i = 0; i < NR_THREADS; i++)
		MUST(!pthread_create(&threads[i], NULL, work, (void *)i));
	for (i = 0; i < NR_THREADS; i++) {
		MUST(!pthread_join(threads[i], &ret));
		wrong += (unsigned long)ret;
	}
	atomic_store(&stop, true);
	MUST(!pthread_join(reader, &ret));
	IS("threads publish side by side", wrong, 0);
	IS("a reader finds what does not change", (long)ret, 0);
	IS("only that is left", stat_of(shared).functions, 1);
	sfjit_area_retire(shared);
}

/* TSan has its own thread, which runs on after strict mode's exit. */
static void test_alone(void)
{
	int status;

	test_arguments();
	test_refusals();
	test_fork();
	test_check();
	test_kernel();
	test_model(16);
	test_model(32);
	test_model(64);
	/* qemu-user has no seccomp; tests/arch/units.sh sets this. */
	if (getenv("SFJIT_EMULATED"))
		return;
	status = in_child(publish_strictly);
	if (status == 77)
		skip("no system call", "no seccomp");
	else
		IS("no system call", status, 0);
}

int main(int argc, char **argv)
{
	present = true;
	if (!strstr(argv[0], "races"))
		test_alone();
	test_threads();
	return finish();
}
