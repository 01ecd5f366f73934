// SPDX-License-Identifier: MIT
/*
 * SPDX-FileCopyrightText: 2026 The sfjit authors
 *
 * A moving collector: two threads run functions from a table. A third one
 * replaces them, copies the live ones when a window of the area is full, and
 * reuses windows that the threads have left.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <sys/mman.h>

#include <sfjit/epoch.h>

#include "emit.h"

#define AREA	0x20000
#define WINDOWS	4
#define SPACING	512		/* with room for what perf maps behind */
#define TABLE	8
#define THREADS	2

static unsigned char *writable, *text;
static struct sfjit_area *area;
static struct sfjit_epoch *epoch;

/* No other memory holds addresses of code. */
static const void *_Atomic table[TABLE];
static atomic_bool done;

/* The window that is being filled. */
static struct sfjit_range window;
static size_t filled;
static int current;

__attribute__((noinline)) void leaf(void)
{
	volatile int i;

	for (i = 0; i < 20000; i++)
		;
}

/* void f(void) { leaf(); leaf(); }, with another name each time. */
static void compile(unsigned int entry, unsigned long number)
{
	unsigned char *at = (unsigned char *)window.start + filled;
	struct sfjit_function f;
	struct emit e;
	char name[64];

	emit_begin(&e);
	emit_enter(&e);
	emit_spin(&e, 20000);
	emit_call(&e, leaf);
	emit_spin(&e, 10000 + number % 7);
	emit_call(&e, leaf);
	emit_leave(&e);
	emit_ret(&e);
	check(emit_end(&e, writable + (at - text), at, &f), "rows");
	check(sfjit_area_publish(area, &f), "publish");
	snprintf(name, sizeof(name), "f%u.%lu>leaf", entry, number);
	sfjit_names_load(&f, SPACING - f.size, name);
	atomic_store(&table[entry], at);
	filled += SPACING;
}

static void begin_window(void)
{
	filled = 0;
	while ((current = sfjit_epoch_begin(epoch, &window)) == -EAGAIN) {
		usleep(1000);
		check(sfjit_epoch_reclaim(epoch), "reclaim");
	}
	check(current, "begin");
}

/* Compile live functions again, as code with relative calls requires. */
static unsigned long move_all(unsigned long number)
{
	int last = current;
	unsigned int i;

	begin_window();
	for (i = 0; i < TABLE; i++)
		compile(i, number++);
	check(sfjit_epoch_unlink(epoch, last), "unlink");
	check(sfjit_epoch_reclaim(epoch), "reclaim");
	return number;
}

static void *work(void *argument)
{
	struct sfjit_epoch_thread *thread;
	unsigned int i;

	check(sfjit_epoch_join(epoch, &thread), "join");
	for (i = 0; !atomic_load(&done); i++) {
		run(atomic_load(&table[i % TABLE]), 0);
		sfjit_epoch_quiescent(thread);
	}
	sfjit_epoch_leave(thread);
	return NULL;
}

static unsigned long collect(long long end)
{
	unsigned long number = 0;

	while (now_ns() < end) {
		usleep(8000);
		if (filled + SPACING > window.length)
			number = move_all(number + TABLE);
		else
			compile(number % TABLE, number + TABLE);
		number++;
	}
	return number;
}

int main(int argc, char **argv)
{
	long long end = begin_run(argc, argv);
	pthread_t threads[THREADS];
	unsigned long number;
	unsigned int i;

	writable = mmap(NULL, AREA, PROT_READ | PROT_WRITE,
			MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	text = mremap(writable, 0, AREA, MREMAP_MAYMOVE);
	if (writable == MAP_FAILED || text == MAP_FAILED ||
	    mprotect(text, AREA, PROT_READ | PROT_EXEC))
		return 1;
	check(sfjit_area_create(text, AREA, 0, 0, &area), "create");
	check(sfjit_epoch_create(area, WINDOWS, writable, &epoch), "epoch");
	begin_window();
	for (i = 0; i < TABLE; i++)
		compile(i, i);
	for (i = 0; i < THREADS; i++)
		if (pthread_create(&threads[i], NULL, work, NULL))
			return 1;
	number = collect(end);
	atomic_store(&done, true);
	for (i = 0; i < THREADS; i++)
		pthread_join(threads[i], NULL);
	sfjit_epoch_retire(epoch);
	sfjit_area_retire(area);
	return end_run(number);
}
