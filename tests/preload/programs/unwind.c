// SPDX-License-Identifier: MIT
// SPDX-FileCopyrightText: 2026 The sfjit authors
/*
 * A JIT in a program linked with LLVM's libunwind: passes frames to it in each
 * way that it has, and unwinds through its code.
 *
 * unwind-jit frame		__register_frame(), which takes one FDE
 * unwind-jit fde		__unw_add_dynamic_fde()
 * unwind-jit section		__unw_add_dynamic_eh_frame_section()
 */
#include <stdint.h>
#include <string.h>
#include <sys/mman.h>
#include <unwind.h>

#include "../../lib/tap.h"
#include "jit_code.h"

#define PAGE	4096

void __register_frame(const void *fde);
void __deregister_frame(const void *fde);
void __unw_add_dynamic_fde(uintptr_t fde);
void __unw_remove_dynamic_fde(uintptr_t fde);
void __unw_add_dynamic_eh_frame_section(uintptr_t start);
void __unw_remove_dynamic_eh_frame_section(uintptr_t start);

struct trace {
	unsigned int nr;
	uintptr_t ips[3];
};

static struct frames frames;
static uint8_t *text;

static _Unwind_Reason_Code note(struct _Unwind_Context *context, void *arg)
{
	struct trace *trace = arg;

	if (trace->nr < sizeof(trace->ips) / sizeof(*trace->ips))
		trace->ips[trace->nr] = _Unwind_GetIP(context);
	trace->nr++;
	return _URC_NO_REASON;
}

__attribute__((noipa)) static void unwind(void *trace)
{
	_Unwind_Backtrace(note, trace);
	__asm__ volatile("" ::: "memory");
}

/* Frames: unwind(), the code, this function, and at least main(). */
__attribute__((noipa)) static struct trace trace_of_code(void)
{
	void (*code)(void (*)(void *), void *) = (void *)text;
	struct trace trace = { 0 };

	code(unwind, &trace);
	return trace;
}

static bool passes(const struct trace *trace)
{
	return trace->nr > 3 &&
	       trace->ips[1] == (uintptr_t)text + CODE_CALL_RETURN;
}

static unsigned int make(void)
{
	static const uint8_t code[] = CODE_CALL;
	unsigned int fde;

	text = mmap(NULL, PAGE, PROT_READ | PROT_WRITE,
		    MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	MUST(text != MAP_FAILED);
	memcpy(text, code, sizeof(code));
	MUST(!mprotect(text, PAGE, PROT_READ | PROT_EXEC));
	frames_begin(&frames, 0);
	fde = frames_function(&frames, (uintptr_t)text, 16, 0);
	frames_end(&frames);
	return fde;
}

static void add(const char *how, uintptr_t fde)
{
	if (!strcmp(how, "frame"))
		__register_frame((void *)fde);
	else if (!strcmp(how, "fde"))
		__unw_add_dynamic_fde(fde);
	else
		__unw_add_dynamic_eh_frame_section((uintptr_t)frames.bytes);
}

static void take_away(const char *how, uintptr_t fde)
{
	if (!strcmp(how, "frame"))
		__deregister_frame((void *)fde);
	else if (!strcmp(how, "fde"))
		__unw_remove_dynamic_fde(fde);
	else
		__unw_remove_dynamic_eh_frame_section((uintptr_t)frames.bytes);
}

int main(int argc, char **argv)
{
	const char *how = argc > 1 ? argv[1] : "frame";
	struct trace without, with;
	uintptr_t fde;

	fde = (uintptr_t)frames.bytes + make();
	without = trace_of_code();
	add(how, fde);
	with = trace_of_code();
	take_away(how, fde);
	result(!passes(&without) && passes(&with), how,
	       "libunwind has %u frames without, %u with", without.nr, with.nr);
	return finish();
}
