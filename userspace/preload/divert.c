// SPDX-License-Identifier: MIT
// SPDX-FileCopyrightText: 2026 The sfjit authors
/*
 * The page is made writable, and executable again: it is never both. Meanwhile
 * nothing may run there. A system may forbid the second step (SELinux, and
 * PR_SET_MDWE), and the page would be lost: both are tried first, on a page of
 * our own that nothing needs.
 *
 * The jump may take more bytes than the function has; the rest is the padding
 * after it, to which nothing jumps. If we find a breakpoint or any other code
 * there, we leave it alone.
 */
#include <link.h>
#include <signal.h>
#include <stdbool.h>
#include <string.h>

#include <sframegen.h>

#include "code.h"
#include "divert.h"
#include "jit.h"
#include "libc.h"
#include "report.h"
#include "self.h"
#include "sys.h"

/* Functions are aligned to 16 bytes or more; this is room to see padding. */
#define LOOK	32

/* Bytes to be written to text. */
struct piece {
	uintptr_t at;
	const uint8_t *bytes;
	size_t length;
};

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
static struct diverted *find_diverted(uintptr_t function)
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
static int write_page(uint8_t *page, size_t length, int protection,
		      const struct piece *piece)
{
	long ret = SYS(SYS_mprotect, page, length, PROT_READ | PROT_WRITE);

	if (ret)
		return ret;
	memcpy((void *)piece->at, piece->bytes, piece->length);
	ret = SYS(SYS_mprotect, page, length, protection);
	if (!ret)
		__builtin___clear_cache((char *)piece->at,
					(char *)piece->at + piece->length);
	return ret;
}

/* A window takes executable text only, and this is in the module's. */
static void restore_trial(size_t page)
{
	SYS_MMAP(code_trial, page, PROT_READ | PROT_EXEC,
		 MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0);
}

static bool is_permitted(size_t page)
{
	static const uint8_t byte = 0xcc;
	const struct piece piece = { (uintptr_t)code_trial, &byte, 1 };
	static int ret = 1;

	if (ret > 0) {
		ret = write_page(code_trial, page, PROT_READ | PROT_EXEC,
				 &piece);
		if (ret)
			restore_trial(page);
	}
	return !ret;
}

static int protection_at(uintptr_t text)
{
	struct dl_find_object found;

	if (!libc.find_object || libc.find_object((void *)text, &found))
		return PROT_READ | PROT_EXEC;
	return PROT_READ | PROT_EXEC | code_protection(found.dlfo_map_start);
}

/* A signal handler could run on the page. */
static int write_text(const struct piece *piece)
{
	size_t size = getpagesize();
	uintptr_t page = piece->at & -size;
	size_t length = (piece->at + piece->length - page + size - 1) & -size;
	int protection = protection_at(piece->at), ret = -EPERM;
	uint64_t all = UINT64_MAX, old;

	SYS(SYS_rt_sigprocmask, SIG_BLOCK, &all, &old, sizeof(all));
	if (is_permitted(size))
		ret = write_page((void *)page, length, protection, piece);
	SYS(SYS_rt_sigprocmask, SIG_SETMASK, &old, NULL, sizeof(old));
	return ret;
}

static int write_jump(uintptr_t function, const uint8_t *to,
		      const char **reason)
{
	uint8_t is[LOOK], want[CODE_DIVERT_SIZE];
	size_t have = self_read(function, is, sizeof(is)), empty;
	size_t at = code_divert_at(is, have);
	const struct piece jump = { function + at, want, sizeof(want) };

	*reason = "is too far away for a jump";
	if (!code_divert(want, function + at, (uintptr_t)to))
		return -ERANGE;
	*reason = "is not an empty function with room for a jump";
	if (have - at >= sizeof(want) && !memcmp(is + at, want, sizeof(want)))
		return 0;
	empty = code_empty(is, have);
	/* All that the jump will overwrite does nothing. */
	if (!empty || empty + sfg_padding(SFG_HOST_ABI, is + empty,
					  have - empty) < at + sizeof(want))
		return -ENOTSUP;
	*reason = "cannot be written";
	return write_text(&jump);
}

/*
 * No thread may run code of the module, nor start to. 0, also if it is diverted
 * already. On failure nothing was written and *reason is a constant string.
 */
static int divert(uintptr_t function, void (*call)(uintptr_t argument),
	   uintptr_t argument, const char **reason)
{
	struct diverted *d = find_diverted(function);
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

/*
 * For debuggers ld.so calls _dl_debug_state(), an empty function, whenever its
 * list of modules changed. This is before relocation, which runs the resolvers
 * of IFUNC symbols, and before constructors. gdb uses probes of ld.so instead,
 * or a breakpoint in the function; then this module leaves it alone.
 */

struct search {
	uintptr_t function;
	const char *name;
};

static int find_loader(struct dl_phdr_info *info, size_t size, void *arg)
{
	struct search *search = arg;

	search->function = libc_module_symbol(info, "_dl_debug_state");
	search->name = info->dlpi_name;
	return search->function != 0;
}

static void (*on_change)(void);

static void call_on_change(uintptr_t argument)
{
	on_change();
}

void divert_loader(void (*changed)(void))
{
	const char *reason = "other threads run";
	struct search search = { 0 };
	int ret = -EBUSY;

	if (!dl_iterate_phdr(find_loader, &search))
		return;
	on_change = changed;
	if (libc_single_threaded())
		ret = divert(search.function, call_on_change, 0, &reason);
	report_followed(search.name, "_dl_debug_state", ret ? reason : NULL,
			ret);
}

/*
 * __jit_debug_register_code() says that __jit_debug_descriptor changed ("JIT
 * Compilation Interface" in gdb's manual). Each module that makes code may have
 * its own two, and calls its own.
 */

void divert_gdb(const struct dl_phdr_info *info, const char *name,
		bool fresh)
{
	uintptr_t function =
		libc_module_symbol(info, "__jit_debug_register_code");
	uintptr_t descriptor =
		libc_module_symbol(info, "__jit_debug_descriptor");
	const char *reason = "its code may run already";
	int ret = -EBUSY;

	if (!function || !descriptor)
		return;
	if (fresh)
		ret = divert(function, jit_gdb_event, descriptor, &reason);
	report_followed(name, "__jit_debug_register_code",
			ret ? reason : NULL, ret);
	/* Take the entries in the list of a library we noticed late. */
	jit_gdb_list(descriptor);
}
