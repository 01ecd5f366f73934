// SPDX-License-Identifier: MIT
/*
 * SPDX-FileCopyrightText: 2026 The sfjit authors
 *
 * Alternate signal stacks: allocate one for a thread that has none, and check
 * the room on those of the program.
 */
#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <sys/auxv.h>
#include <sys/mman.h>
#include <unistd.h>

#include "assist.h"

/* For the handler and the callbacks, in addition to the kernel's frame. */
#define STACK_SIZE	(64UL << 10)
/*
 * The required room: 10 KiB, and 18 KiB for callbacks. Sanitizers give each
 * thread 32 KiB, which includes the kernel's frame.
 */
#define ROOM		(28UL << 10)

/* The value is the mapping of a thread; its first page is a guard page. */
static pthread_key_t key;
static bool has_key;

static size_t page_size(void)
{
	return sysconf(_SC_PAGESIZE);
}

/* The kernel's frame depends on the processor; 0 if the default is enough. */
static size_t stack_size(void)
{
	size_t page = page_size();

	return (STACK_SIZE + getauxval(AT_MINSIGSTKSZ) + page - 1) & -page;
}

static size_t mapping_size(void)
{
	return page_size() + stack_size();
}

/* The program may have installed another stack. */
static int remove_mapping(const unsigned char *mapping)
{
	const stack_t none = { .ss_flags = SS_DISABLE };
	stack_t now;

	if (sigaltstack(NULL, &now))
		return -errno;
	if (now.ss_flags & SS_DISABLE || now.ss_sp != mapping + page_size())
		return 0;
	/* Fails on the alternate stack itself. */
	return sigaltstack(&none, NULL) ? -EBUSY : 0;
}

static void end_thread(void *mapping)
{
	sfjit_assist_turn_off();
	if (!remove_mapping(mapping))
		sfjit_unmap(mapping, mapping_size());
}

static int make_key(void)
{
	if (!has_key && pthread_key_create(&key, end_thread))
		return -ENOMEM;
	__atomic_store_n(&has_key, true, __ATOMIC_RELEASE);
	return 0;
}

static int install_stack(unsigned char *mapping)
{
	const stack_t stack = {
		.ss_sp = mapping + page_size(), .ss_size = stack_size(),
	};

	if (mprotect(mapping, page_size(), PROT_NONE) ||
	    pthread_setspecific(key, mapping))
		return -ENOMEM;
	if (!sigaltstack(&stack, NULL))
		return 0;
	pthread_setspecific(key, NULL);
	return -ENOMEM;
}

static int add_stack(void)
{
	unsigned char *mapping;
	int ret = make_key();

	if (!ret)
		ret = sfjit_map(mapping_size(), 0, &mapping);
	if (ret)
		return ret;
	ret = install_stack(mapping);
	if (ret)
		sfjit_unmap(mapping, mapping_size());
	return ret;
}

/* If the thread has no stack, one that it had from here is unused. */
int sfjit_assist_add_stack(bool wanted)
{
	stack_t now;
	int ret;

	if (sigaltstack(NULL, &now))
		return -errno;
	if (!(now.ss_flags & SS_DISABLE))
		return now.ss_size < ROOM + getauxval(AT_MINSIGSTKSZ) ?
		       -ENOSPC : 0;
	if (!wanted)
		return 0;
	sfjit_assist_remove_stack();
	ret = add_stack();
	return ret ? ret : 1;
}

/* The program may have installed a small one since the check. */
bool sfjit_assist_has_room(const ucontext_t *context)
{
	const stack_t *stack = &context->uc_stack;
	uintptr_t left = (uintptr_t)__builtin_frame_address(0) -
			 (uintptr_t)stack->ss_sp;

	return stack->ss_flags & SS_DISABLE || left >= stack->ss_size ||
	       left >= ROOM;
}

int sfjit_assist_remove_stack(void)
{
	void *mapping = NULL;
	int ret;

	if (__atomic_load_n(&has_key, __ATOMIC_ACQUIRE))
		mapping = pthread_getspecific(key);
	if (!mapping)
		return 0;
	ret = remove_mapping(mapping);
	if (ret)
		return ret;
	pthread_setspecific(key, NULL);
	sfjit_unmap(mapping, mapping_size());
	return 0;
}
