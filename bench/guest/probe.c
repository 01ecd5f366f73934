// SPDX-License-Identifier: MIT
// SPDX-FileCopyrightText: 2026 The sfjit authors
#include <fcntl.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "measure.h"
#include "probe.h"

#define DEVICE		"/dev/sframe_probe"
#define PAGE		4096

/* trigger.S */
typedef long (*probe_fn)(void *sp, void *fp, int device, const char *context);
long bench_probe(void *sp, void *fp, int device, const char *context);
extern const char bench_probe_ret[], bench_probe_end[];

static probe_fn probe = bench_probe;
static int device;

void probe_open(void)
{
	device = open(DEVICE, O_RDWR);
	if (device < 0)
		die(DEVICE ": no module sframe_probe: %m");
}

static void protect(uint64_t start, uint64_t end, int prot)
{
	start &= -PAGE;
	if (mprotect((void *)start, end - start, prot))
		die("probe: mprotect: %m");
}

void probe_place(uint64_t ip)
{
	const char *code = (const char *)bench_probe;
	uint64_t start = ip - (bench_probe_ret - code);
	size_t size = bench_probe_end - code;

	protect(start, start + size, PROT_READ | PROT_WRITE);
	memcpy((void *)start, code, size);
	protect(start, start + size, PROT_READ | PROT_EXEC);
	probe = (probe_fn)start;
}

static void fire(struct stack *stack)
{
	if (probe(stack->words, stack->words + 2, device, "n") != 1)
		die("no NMI");
}

uint64_t probe_cost(struct stack *stack)
{
	uint64_t cost;

	fire(stack);
	if (read(device, &cost, sizeof(cost)) != sizeof(cost))
		die(DEVICE ": read: %m");
	return cost;
}

size_t probe_chain(struct stack *stack, uint64_t *chain, size_t max)
{
	struct event event;
	size_t nr;

	event_open_probe(&event, EVENT_AT_ONCE, 1);
	fire(stack);
	nr = event_read_chain(&event, chain, max);
	event_close(&event);
	return nr;
}
