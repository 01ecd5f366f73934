// SPDX-License-Identifier: MIT
/*
 * SPDX-FileCopyrightText: 2026 The sfjit authors
 *
 * Description: memory of a live window: no huge pages, and the error if a limit
 * on locked memory is reached.
 */
#include <malloc.h>
#include <sys/resource.h>

#include <sfjit/live.h>

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

static const void *section_of(const struct sfjit_live *live)
{
	struct sfjit_live_info stat;

	MUST(!sfjit_live_stat(live, &stat));
	return stat.section;
}

static void test_no_huge_pages(void)
{
	struct sfjit_live *live;

	if (access("/sys/kernel/mm/transparent_hugepage", F_OK)) {
		skip("no huge pages", "kernel without them");
		return;
	}
	MUST(!sfjit_live_create(text, LENGTH, 0, 0, &live));
	TRUE("no huge pages", has_flag(section_of(live), " nh"));
	MUST(!sfjit_live_grow(live, NULL, 0, 0, 0));
	TRUE("nor when it has grown", has_flag(section_of(live), " nh"));
	IS("retire", sfjit_live_retire(live), 0);
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

static int create_live(void)
{
	struct sfjit_live *live;

	if (!lock_memory(LIMIT))
		return NO_LOCK;
	IS("section over the limit",
	   sfjit_live_create(text, LENGTH, 0, 0, &live), -ENOMEM);
	IS("section under the limit",
	   sfjit_live_create(text, LENGTH, 1, 1, &live), 0);
	IS("grow over the limit",
	   sfjit_live_grow(live, NULL, 0, LIMIT, 0), -ENOMEM);
	IS("retire", sfjit_live_retire(live), 0);
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
	test_locked("locked live window", create_live);
	test_locked("locked pool", create_pool);
	return finish();
}
