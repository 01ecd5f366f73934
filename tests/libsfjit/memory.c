// SPDX-License-Identifier: MIT
/*
 * SPDX-FileCopyrightText: 2026 The sfjit authors
 *
 * Description: memory of an area: no huge pages, and the error if a limit
 * on locked memory is reached.
 */
#include <malloc.h>
#include <sys/resource.h>

#include <sfjit/area.h>

#include "test.h"

#define LENGTH	0x10000000UL

static unsigned char text[4096];

/* ---- Huge pages ------------------------------------------------------ */

/* VmFlags of the mapping at an address, see proc_pid_smaps(5). */
static bool has_flag(const void *address, const char *flag)
{
	unsigned long start, end, at = (unsigned long)address;
	FILE *smaps = fopen("/proc/self/smaps", "r");
	bool inside = false, found = false;
	char line[512];

	MUST(smaps);
	while (fgets(line, sizeof(line), smaps)) {
		if (sscanf(line, "%lx-%lx ", &start, &end) == 2)
			inside = at >= start && at < end;
		else if (inside && !strncmp(line, "VmFlags:", 8))
			found = strstr(line, flag);
	}
	fclose(smaps);
	return found;
}

static const void *table_of(const struct sfjit_area *area)
{
	struct sfjit_area_info stat;

	MUST(!sfjit_area_stat(area, &stat));
	return stat.table;
}

static void test_no_huge_pages(void)
{
	struct sfjit_area *area;

	if (access("/sys/kernel/mm/transparent_hugepage", F_OK)) {
		skip("no huge pages", "kernel without them");
		return;
	}
	MUST(!sfjit_area_create(text, LENGTH, 0, 0, &area));
	TRUE("no huge pages", has_flag(table_of(area), " nh"));
	MUST(!sfjit_area_grow(area, NULL, 0, 0, 0));
	TRUE("nor when it has grown", has_flag(table_of(area), " nh"));
	IS("retire", sfjit_area_retire(area), 0);
}

/* ---- Locked memory --------------------------------------------------- */

#define LIMIT	(1UL << 20)
#define NO_LOCK	77

/* Allocate the handle's memory now, so that only mmap() meets the limit. */
static void extend_heap(void)
{
	/* Without volatile the compiler would remove both calls. */
	void *volatile memory;

	mallopt(M_MMAP_THRESHOLD, LIMIT);
	mallopt(M_TRIM_THRESHOLD, 2 * LIMIT);
	memory = malloc(LIMIT / 2);
	free(memory);
}

/* The limit does not apply with CAP_IPC_LOCK, so change the user. */
static bool lock_memory(size_t limit)
{
	struct rlimit rlimit = { limit, limit };

	extend_heap();
	return !setrlimit(RLIMIT_MEMLOCK, &rlimit) &&
	       (geteuid() || !setuid(65534)) && !mlockall(MCL_FUTURE);
}

static int create_area(void)
{
	struct sfjit_area *area;

	if (!lock_memory(LIMIT))
		return NO_LOCK;
	IS("table over the limit",
	   sfjit_area_create(text, LENGTH, 0, 0, &area), -ENOMEM);
	IS("table under the limit",
	   sfjit_area_create(text, sizeof(text), 64, 1024, &area), 0);
	IS("grow over the limit",
	   sfjit_area_grow(area, NULL, 0, 65535, 0), -ENOMEM);
	IS("retire", sfjit_area_retire(area), 0);
	return finish();
}

static int create_pool(void)
{
	struct sfjit_pool *pool;

	if (!lock_memory(16 * 4096))
		return NO_LOCK;
	IS("pool over the limit", sfjit_pool_create(SFJIT_TRAMP_SLOT, &pool),
	   -ENOMEM);
	return finish();
}

static void test_locked(const char *name, int (*create)(void))
{
	int status = in_child(create);

	if (status == NO_LOCK)
		skip(name, "memory cannot be locked");
	else
		IS(name, status, 0);
}

int main(void)
{
	test_no_huge_pages();
	test_locked("locked area", create_area);
	test_locked("locked pool", create_pool);
	return finish();
}
