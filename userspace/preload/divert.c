// SPDX-License-Identifier: MIT
// SPDX-FileCopyrightText: 2026 The sfjit authors
/*
 * The page is made writable, and executable again: it is never both. Meanwhile
 * nothing may run there. A system may forbid the second step (SELinux, and
 * PR_SET_MDWE), and the page would be lost: both are tried first, on a page of
 * our own that nothing needs.
 *
 * The jump takes more bytes than the function has; the rest is the padding
 * behind it, to which nothing jumps. A breakpoint in the first byte, or any
 * other code, is not what is expected, and is left alone.
 */
#include <signal.h>
#include <stdbool.h>
#include <string.h>

#include <sframegen.h>

#include "code.h"
#include "divert.h"
#include "self.h"
#include "sys.h"

/* Functions are aligned to 16 bytes or more; this is room to see padding. */
#define LOOK	32

unsigned long code_vectors;

static struct diverted {
	uintptr_t function;
	void (*call)(uintptr_t argument);
	uintptr_t argument;
} diverted[CODE_EVENTS];

__attribute__((visibility("hidden"))) void code_event(unsigned long number)
{
	diverted[number].call(diverted[number].argument);
}

/* That of the function, or a free one; NULL: there is none. */
static struct diverted *find(uintptr_t function)
{
	struct diverted *d, *free = NULL;
	uint8_t byte;

	for (d = diverted; d < diverted + CODE_EVENTS; d++) {
		if (d->function == function)
			return d;
		/* Those of a library that was unloaded are free. */
		if (!free && (!d->function ||
			      !self_read(d->function, &byte, 1)))
			free = d;
	}
	return free;
}

/* The file's other processes keep their text: it is mapped privately. */
static int write_page(uint8_t *page, size_t length, uint8_t *at,
		      const uint8_t *bytes, size_t nr)
{
	long ret = SYS(SYS_mprotect, page, length, PROT_READ | PROT_WRITE);

	if (ret)
		return ret;
	memcpy(at, bytes, nr);
	return SYS(SYS_mprotect, page, length, PROT_READ | PROT_EXEC);
}

/* A window takes executable text only, and this is in the module's. */
static void restore_trial(void)
{
	SYS(SYS_mmap, code_trial, sizeof(code_trial), PROT_READ | PROT_EXEC,
	    MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0);
}

static bool is_permitted(void)
{
	static const uint8_t byte = 0xcc;
	static int ret = 1;

	if (ret > 0) {
		ret = write_page(code_trial, sizeof(code_trial), code_trial,
				 &byte, 1);
		if (ret)
			restore_trial();
	}
	return !ret;
}

/* A signal handler could run on the page. */
static int write_text(uintptr_t function, const uint8_t *bytes, size_t nr)
{
	uintptr_t page = function & -sizeof(code_trial);
	size_t length = (function + nr - page + sizeof(code_trial) - 1) &
			-sizeof(code_trial);
	uint64_t all = UINT64_MAX, old;
	int ret;

	SYS(SYS_rt_sigprocmask, SIG_BLOCK, &all, &old, sizeof(all));
	ret = is_permitted() ? write_page((void *)page, length,
					  (void *)function, bytes, nr) : -EPERM;
	SYS(SYS_rt_sigprocmask, SIG_SETMASK, &old, NULL, sizeof(old));
	return ret;
}

static int write_jump(uintptr_t function, const uint8_t *to,
		      const char **reason)
{
	uint8_t is[LOOK], want[CODE_DIVERT_SIZE];
	size_t have = self_read(function, is, sizeof(is)), empty;

	*reason = "is not an empty function with room for a jump";
	code_divert(want, (uintptr_t)to);
	if (have >= sizeof(want) && !memcmp(is, want, sizeof(want)))
		return 0;
	empty = code_empty(is, have);
	/* All that the jump will overwrite does nothing. */
	if (!empty || empty + sfg_padding(SFG_HOST_ABI, is + empty,
					  have - empty) < sizeof(want))
		return -ENOTSUP;
	*reason = "cannot be written";
	return write_text(function, want, sizeof(want));
}

int divert(uintptr_t function, void (*call)(uintptr_t argument),
	   uintptr_t argument, const char **reason)
{
	struct diverted *d = find(function);
	int ret;

	*reason = "too many functions like it";
	if (!d)
		return -ENOSPC;
	if (!code_vectors)
		code_vectors = code_vectors_size();
	*d = (struct diverted) {
		.function = function, .call = call, .argument = argument,
	};
	ret = write_jump(function, code_events +
			 (d - diverted) * CODE_EVENT_SIZE, reason);
	if (ret)
		d->function = 0;
	return ret;
}
