// SPDX-License-Identifier: MIT
/*
 * SPDX-FileCopyrightText: 2026 The sfjit authors
 *
 * usage: names memfd|anonymous DIR SECONDS
 *
 * A JIT that uses its memory again: every few milliseconds another function
 * lies in one of four places, and calls the leaf whose number is in its name.
 * The area is mapped twice, once to write and once to execute. Names go to the
 * perf map, to the log, and to a jitdump in DIR; to "no" jitdump if that is DIR.
 */
#define _GNU_SOURCE
#include <err.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

#include <sfjit.h>
#include <sfjit/area.h>
#include <sfjit/names.h>

#define SP(offset)	SFJIT_REG(SFJIT_X86_64_SP, offset)

#define AREA		0x10000
#define PLACES		4
#define SPACING		1024
#define LEAVES		8
#define ROUND_NS	8000000LL

/* void f(long long end) { leaf(end); } without frame pointer; rbp is scratch */
static const unsigned char code[] = {
	0x55,					/* push %rbp */
	0x48, 0x83, 0xec, 0x20,			/* sub $32, %rsp */
	0x48, 0xbd, 0, 0, 0, 0, 0, 0, 0, 0,	/* movabs $leaf, %rbp */
	0xff, 0xd5,				/* call *%rbp */
	0x48, 0x83, 0xc4, 0x20,			/* add $32, %rsp */
	0x5d,					/* pop %rbp */
	0xc3,					/* ret */
};

static const struct sfjit_row rows[] = {
	{ 0, 0, SP(8), SFJIT_NO_RULE, SFJIT_NO_RULE },
	{ 1, 0, SP(16), SFJIT_NO_RULE, SFJIT_SAVED(-16) },
	{ 5, 0, SP(48), SFJIT_NO_RULE, SFJIT_SAVED(-16) },
	{ 21, 0, SP(16), SFJIT_NO_RULE, SFJIT_SAVED(-16) },
	{ 22, 0, SP(8), SFJIT_NO_RULE, SFJIT_NO_RULE },
};

static unsigned char *writable, *executable;
static struct sfjit_area *area;

static long long now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec * 1000000000LL + t.tv_nsec;
}

/* Nearly all of the time passes in the inner loop. */
#define LEAF(n) \
	__attribute__((noinline)) void leaf##n(long long end) \
	{ \
		volatile int i; \
		do { \
			for (i = 0; i < 100000; i++) \
				; \
		} while (now() < end); \
	}
LEAF(0) LEAF(1) LEAF(2) LEAF(3) LEAF(4) LEAF(5) LEAF(6) LEAF(7)

static void (*const leaves[LEAVES])(long long) = {
	leaf0, leaf1, leaf2, leaf3, leaf4, leaf5, leaf6, leaf7
};

static void map_memfd(void)
{
	int fd = memfd_create("names", MFD_CLOEXEC);

	if (fd < 0 || ftruncate(fd, AREA))
		err(1, "memfd");
	writable = mmap(NULL, AREA, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	executable = mmap(NULL, AREA, PROT_READ | PROT_EXEC, MAP_SHARED, fd, 0);
}

/* Shared memory is mapped once more if mremap() is told that it has no size. */
static void map_anonymous(void)
{
	writable = mmap(NULL, AREA, PROT_READ | PROT_WRITE,
			MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	if (writable == MAP_FAILED)
		err(1, "mmap");
	executable = mremap(writable, 0, AREA, MREMAP_MAYMOVE);
	if (executable != MAP_FAILED &&
	    mprotect(executable, AREA, PROT_READ | PROT_EXEC))
		err(1, "mprotect");
}

static void check(int ret, const char *what)
{
	if (ret < 0)
		errx(1, "%s: %s", what, strerror(-ret));
}

__attribute__((noinline)) void one_round(unsigned int round)
{
	size_t offset = round % PLACES * SPACING;
	/* No two that follow each other at a place have the same. */
	unsigned int leaf = (round + round / PLACES) % LEAVES;
	struct sfjit_function f = {
		.addr = (uintptr_t)executable + offset,
		.size = sizeof(code),
		.nr_rows = sizeof(rows) / sizeof(*rows),
		.rows = rows,
	};
	long room = sfjit_names_room(&f);
	char name[64];

	check(room, "room");
	memcpy(writable + offset, code, sizeof(code));
	memcpy(writable + offset + 7, &leaves[leaf], sizeof(void *));
	check(sfjit_area_publish(area, &f), "publish");
	snprintf(name, sizeof(name), "round%u_leaf%u", round, leaf);
	check(sfjit_names_load(&f, room, name), "name");
	((void (*)(long long))(uintptr_t)f.addr)(now() + ROUND_NS);
	check(sfjit_area_withdraw(area, (void *)f.addr), "withdraw");
	check(sfjit_names_drop((void *)f.addr, f.size), "drop");
}

int main(int argc, char **argv)
{
	unsigned int what = SFJIT_NAMES_MAP | SFJIT_NAMES_LOG, round;
	long long end;

	if (argc != 4)
		errx(2, "usage: names memfd|anonymous DIR|no SECONDS");
	if (!strcmp(argv[1], "memfd"))
		map_memfd();
	else
		map_anonymous();
	if (writable == MAP_FAILED || executable == MAP_FAILED)
		err(1, "mmap");
	check(sfjit_area_create(executable, AREA, 0, 0, &area), "area");
	if (strcmp(argv[2], "no"))
		what |= SFJIT_NAMES_JITDUMP;
	check(sfjit_names_open(what, argv[2]), "names");
	end = now() + atoll(argv[3]) * 1000000000LL;
	for (round = 0; now() < end; round++)
		one_round(round);
	check(sfjit_names_close(), "close");
	printf("%d %u\n", (int)getpid(), round);
	return 0;
}
