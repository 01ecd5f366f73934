// SPDX-License-Identifier: MIT
// SPDX-FileCopyrightText: 2026 The sfjit authors
/*
 * guess: in memory where sfjit run lets stacks end, a program's own
 * registrations take effect, and stacks end in the rest (on a kernel with
 * windows, under sfjit run).
 */
#define _GNU_SOURCE
#include <pthread.h>
#include <sframegen.h>
#include <sfjit/sframe.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "../../../userspace/libsfjit/text_table.h"
#include "../../lib/tap.h"
#include "guess.h"

#define CHUNK	0x10000UL
#define PAGE	0x1000UL
#define PART	0x80UL
#define THREADS	4
#define ROUNDS	50

static char *chunk;

/*
 * Windows in the chunk, in order, each as a letter and the number of parts: "e"
 * of sfjit run, "w" of the program.
 */
static const char *windows(void)
{
	static char list[65536];
	unsigned long start, end, key, section, length;
	FILE *file = fopen("/proc/self/sframe", "r") ?:
		     fopen("/proc/sfjit", "r");
	char line[256], kind[16];
	size_t used = 0;

	MUST(file);
	list[0] = '\0';
	while (fgets(line, sizeof(line), file)) {
		if (sscanf(line, "%lx-%lx %lx %lx %lx %15s", &start, &end,
			   &key, &section, &length, kind) != 6 ||
		    end <= (uintptr_t)chunk ||
		    start >= (uintptr_t)chunk + CHUNK)
			continue;
		used += snprintf(list + used, sizeof(list) - used, "%s%c%lu",
				 used ? " " : "", key >> 63 ? 'e' : 'w',
				 (end - start) / PART);
		MUST(used < sizeof(list) - 64);
	}
	fclose(file);
	return list;
}

static void has(const char *name, const char *expected)
{
	const char *got = windows();

	result(!strcmp(got, expected), name, "windows are %s, expected %s", got,
	       expected);
}

static char *part(size_t nr)
{
	return chunk + nr * PART;
}

static void test_library(void)
{
	has("stacks end in new memory of the library", "e512");
	IS("it registers its code", guess_register(part(1), PART), 0);
	has("beside that stacks end", "e1 w1 e510");
	IS("and more of it", guess_register(part(3), 2 * PART), 0);
	has("between, too", "e1 w1 e1 w2 e507");
	IS("over both", guess_register(part(0), 4 * PART), -EEXIST);
	has("which changes nothing", "e1 w1 e1 w2 e507");
	IS("the first goes", guess_unregister(part(1)), 0);
	has("stacks end there again", "e3 w2 e507");
	IS("the second goes", guess_unregister(part(3)), 0);
	has("and there", "e512");
	IS("all of it", guess_register(chunk, CHUNK), 0);
	has("has one window", "w512");
	IS("which goes", guess_unregister(chunk), 0);
	has("stacks end in all", "e512");
}

/* Around it, and over its ends: the memory on both sides belongs to others. */
static void test_around(void)
{
	const int prot = PROT_READ | PROT_WRITE | PROT_EXEC;
	const int flags = MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED;
	char *before = chunk - PAGE, *after = chunk + CHUNK;

	MUST(mmap(before, PAGE, prot, flags, -1, 0) == before);
	MUST(mmap(after, PAGE, prot, flags, -1, 0) == after);
	IS("around it", guess_register(before, CHUNK + 2 * PAGE), 0);
	has("is one window", "w576");
	IS("which goes", guess_unregister(before), 0);
	has("stacks end in the library's memory alone", "e512");
	IS("over its start", guess_register(before, PAGE + PART), 0);
	has("there are two", "w33 e511");
	IS("over its end", guess_register(after - PART, PART + PAGE), 0);
	has("there are three", "w33 e510 w33");
	IS("they go", guess_unregister(before) |
		      guess_unregister(after - PART), 0);
	has("and it is as before", "e512");
}

/* By the wrapper of the system call; the text is that of section or table. */
static void test_ranges(const struct sfjit_function *f)
{
	static unsigned char section[256];
	struct sframe_window_opts opts = {
		.size = sizeof(opts), .format = SFRAME_FORMAT_PACKED,
	};
	struct sfg_output table;
	size_t length;

	MUST(!sfg_write_section(SFG_HOST_ABI, f, 1, (uintptr_t)section,
				section, sizeof(section), &length, NULL));
	IS("prctl() without a range",
	   prctl(PR_SFRAME_REGISTER, 77, section, length, NULL), 0);
	has("its window", "e2 w1 e509");
	MUST(!prctl(PR_SFRAME_UNREGISTER, 77, 0, 0, 0));
	MUST(!sfg_write_packed(SFG_HOST_ABI, f, 1, &table, NULL));
	IS("of a packed table",
	   prctl(PR_SFRAME_REGISTER, 77, table.data, table.len, &opts), 0);
	has("the same window", "e2 w1 e509");
	MUST(!prctl(PR_SFRAME_UNREGISTER, 77, 0, 0, 0));
	has("stacks end there again", "e512");
	free(table.data);
}

static void test_prctl(void)
{
	static const struct sfjit_row row = {
		0, 0, SFJIT_REG(SFJIT_X86_64_SP, 8), SFJIT_NO_RULE,
		SFJIT_NO_RULE,
	};
	const struct sfjit_function f = {
		(uintptr_t)part(2), PART, 1, &row, 0, 0,
	};
	struct sframe_window_opts opts = {
		.size = sizeof(opts), .format = SFRAME_FORMAT_PACKED,
		.text_start = (uintptr_t)part(5), .text_length = PART,
		.text_bias = (uintptr_t)part(5),
	};
	const void *table = text_table_get(SFJIT_TEXT_FP);
	const size_t length = sizeof(struct text_table);

	test_ranges(&f);
	IS("prctl() with a range",
	   prctl(PR_SFRAME_REGISTER, 78, table, length, &opts), 0);
	has("its window, too", "e5 w1 e506");
	opts.text_length = 2 * PART;
	opts.flags = SFRAME_WINDOW_REPLACE;
	IS("which grows", prctl(PR_SFRAME_REGISTER, 78, table, length, &opts),
	   0);
	has("over what is beside it", "e5 w2 e505");
	MUST(!prctl(PR_SFRAME_UNREGISTER, 78, 0, 0, 0));
	has("without it stacks end in all", "e512");
}

static void test_fork(void)
{
	pid_t child;
	int status;

	IS("before fork()", guess_register(part(1), PART), 0);
	child = fork();
	MUST(child >= 0);
	if (!child)
		_exit(strcmp(windows(), "e1 w1 e510") ? 1 :
		      guess_register(part(4), PART) ? 2 :
		      strcmp(windows(), "e1 w1 e2 w1 e507") ? 3 :
		      guess_unregister(part(1)) ? 4 :
		      strcmp(windows(), "e4 w1 e507") ? 5 : 0);
	MUST(waitpid(child, &status, 0) == child);
	IS("a child registers and unregisters", status, 0);
	IS("after fork()", guess_unregister(part(1)), 0);
	has("as if there had been none", "e512");
}

static void *register_all(void *first)
{
	size_t i, round;
	long failed = 0;

	for (round = 0; round < ROUNDS; round++) {
		for (i = (size_t)first; i < 64; i += THREADS)
			failed += !!guess_register(part(i), PART);
		for (i = (size_t)first; i < 64; i += THREADS)
			failed += !!guess_unregister(part(i));
	}
	return (void *)failed;
}

static void test_threads(void)
{
	pthread_t threads[THREADS];
	long failed = 0;
	void *count;
	size_t i;

	for (i = 0; i < THREADS; i++)
		MUST(!pthread_create(&threads[i], NULL, register_all,
				     (void *)i));
	for (i = 0; i < THREADS; i++) {
		MUST(!pthread_join(threads[i], &count));
		failed += (long)count;
	}
	IS("no call of threads fails", failed, 0);
	has("and stacks end in all", "e512");
}

int main(void)
{
	chunk = mmap(NULL, CHUNK + 2 * PAGE, PROT_NONE,
		     MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	MUST(chunk != MAP_FAILED && !munmap(chunk + PAGE, CHUNK));
	chunk = guess_map(chunk + PAGE, CHUNK);
	MUST(chunk);
	test_library();
	test_around();
	test_prctl();
	test_fork();
	test_threads();
	return finish();
}
