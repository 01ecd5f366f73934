// SPDX-License-Identifier: MIT
// SPDX-FileCopyrightText: 2026 The sfjit authors
/*
 * jit publish: a small JIT that describes its code in all ways of
 * __register_frame() and of the GDB JIT interface, to test the module of sfjit
 * run.
 *
 * jit walk [without]: also takes callchains at each instruction, by
 * breakpoints. Only with windows are they the true ones.
 *
 * jit publish-mistakes, jit walk-mistakes: the same, with input that libgcc
 * rejects, for a replacement library that accepts everything.
 *
 * jit publish-many, jit walk-many [without]: many frames, and frames that
 * arrive while another thread makes their text executable, or undoes that.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <limits.h>
#include <pthread.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>
#include <unwind.h>

#include "../../lib/tap.h"
#include "callchain.h"
#include "jit_code.h"
#include "jit_elf.h"
#include "jit_gdb.h"

#define AREA		(4 * PAGE)
#define NOIPA		__attribute__((noipa))
#define FORKS		50
#define ROUNDS		1000

/* With more than one event the test retries; these are for all of them. */
#define UNITS		200
#define UNIT_ROOM	64
#define EVENTS		4

void __register_frame(void *begin);
void __deregister_frame(void *begin);
void __register_frame_info(const void *begin, void *object);
void *__deregister_frame_info(const void *begin);
void __register_frame_info_bases(const void *begin, void *object, void *text,
				 void *data);
void *__deregister_frame_info_bases(const void *begin);
void __register_frame_table(void *table);
void __register_frame_info_table(void *table, void *object);
void __register_frame_info_table_bases(void *table, void *object, void *text,
				       void *data);

typedef void (*function)(void *argument);
typedef void (*call)(function f, void *argument);

/* Offsets in an area; padding is between the two functions. */
#define FIRST		0
#define SECOND		32
#define JUMP		64
#define SLOT		(JUMP + 8)
#define BARE		512

static const uint8_t code_call[] = CODE_CALL, code_other[] = CODE_OTHER;
static const uint8_t code_jump[] = CODE_JUMP, code_bare[] = CODE_BARE;
static const unsigned int insns[] = CODE_CALL_INSNS;

static bool walks, windows = true;
static uint8_t *area;
static struct frames frames;
static uint64_t tail[MOST];
static unsigned int nr_tail;

/* ---- Callchains ------------------------------------------------------ */

struct trace {
	unsigned int nr;
	uint64_t ips[MOST];
};

static _Unwind_Reason_Code note(struct _Unwind_Context *context, void *arg)
{
	struct trace *trace = arg;

	/* It also reports the end. */
	if (trace->nr < MOST && _Unwind_GetIP(context))
		trace->ips[trace->nr++] = _Unwind_GetIP(context);
	return _URC_NO_REASON;
}

NOIPA static void unwind(void *trace)
{
	_Unwind_Backtrace(note, trace);
	__asm__ volatile("" ::: "memory");
}

NOIPA static void leaf(void *argument)
{
	__asm__ volatile("" ::: "memory");
}

NOIPA static void call_unwind(function f, void *trace)
{
	unwind(trace);
	__asm__ volatile("" ::: "memory");
}

NOIPA static void call_site(call c, function f, void *argument)
{
	c(f, argument);
	__asm__ volatile("" ::: "memory");
}

/*
 * The tail that follows the called code comes from the compiler's unwinder,
 * called from the same place, after unwind() and call_unwind().
 */
NOIPA static void chain_at(const void *address, call c, function f,
			   void *argument, struct chain *chain)
{
	struct trace trace = { 0 };
	volatile int i;

	for (i = 0; i < 2 || (!has_fired() && i < 2 + MISSES); i++) {
		if (i == 1)
			open_event((uintptr_t)address);
		call_site(i ? c : call_unwind, f, i ? argument : &trace);
	}
	read_chain(chain);
	close_event();
	MUST(trace.nr > 5);
	nr_tail = trace.nr - 2;
	memcpy(tail, trace.ips + 2, nr_tail * sizeof(*tail));
}

static bool is_chain(const struct chain *chain, const uint64_t *head,
		     unsigned int nr, bool ends)
{
	unsigned int behind = ends ? 0 : nr_tail;

	return chain->nr == nr + behind &&
	       !memcmp(chain->ips, head, nr * sizeof(*head)) &&
	       !memcmp(chain->ips + nr, tail, behind * sizeof(*tail));
}

static void describe(char *text, size_t size, const struct chain *chain)
{
	unsigned int i;
	size_t n = 0;

	*text = '\0';
	for (i = 0; i < chain->nr && n < size; i++)
		n += snprintf(text + n, size - n, "%lx ",
			      (unsigned long)chain->ips[i]);
}

static void describe_tail(char *text, size_t size)
{
	struct chain chain = { .nr = nr_tail };

	memcpy(chain.ips, tail, sizeof(tail));
	describe(text, size, &chain);
}

/* The frames before the tail; @ends: there are no others. */
static bool check(const char *name, const void *address, call c, function f,
		  void *argument, const uint64_t *head, unsigned int nr,
		  bool ends)
{
	char text[1024], wanted[1024];
	struct chain chain;
	bool good;

	if (!walks)
		return true;
	chain_at(address, c, f, argument, &chain);
	good = is_chain(&chain, head, nr, ends);
	if (good == windows)
		return true;
	describe(text, sizeof(text), &chain);
	describe_tail(wanted, sizeof(wanted));
	result(false, name, "at %p: %s, after it should be %s", address, text,
	       wanted);
	return false;
}

static bool check_insn(const char *name, const uint8_t *code, unsigned int at)
{
	const uint64_t head[] = { (uintptr_t)code + at };

	return check(name, code + at, (call)code, leaf, NULL, head, 1, false);
}

/* Checks each instruction of a function, and its callee. */
static bool walk_function(const char *name, const uint8_t *code)
{
	const uint64_t head[] = {
		(uintptr_t)leaf, (uintptr_t)code + CODE_CALL_RETURN,
	};
	unsigned int i;
	bool good = true;

	/* At both ends a stack by frame pointers may look right. */
	for (i = 0; i < sizeof(insns) / sizeof(*insns) && good; i++)
		if (windows || (insns[i] >= 10 && insns[i] < 22))
			good = check_insn(name, code, insns[i]);
	return good && check(name, (void *)leaf, (call)code, leaf, NULL, head,
			     2, false);
}

static void check_function(const char *name, const uint8_t *code)
{
	if (walk_function(name, code) && walks)
		result(true, name, "-");
}

/* Without windows a stack ends, or is wrong, in the middle of code. */
static void check_lost(const char *name, const uint8_t *code)
{
	const uint64_t head[] = { (uintptr_t)code + 10 };
	struct chain chain;
	char text[1024];

	if (!walks)
		return;
	chain_at(code + 10, (call)code, leaf, NULL, &chain);
	describe(text, sizeof(text), &chain);
	result(!is_chain(&chain, head, 1, false), name, "%s", text);
}

/* Whether the kernel has a window there. */
static bool has_window(const uint8_t *code)
{
	unsigned long start, end, at = (uintptr_t)code;
	FILE *file = fopen("/proc/self/sframe", "r");
	bool found = false;
	char line[256];

	while (file && !found && fgets(line, sizeof(line), file))
		found = sscanf(line, "%lx-%lx ", &start, &end) == 2 &&
			start <= at && at < end;
	if (file)
		fclose(file);
	return found;
}

/* ---- The JIT --------------------------------------------------------- */

static void map_area(void)
{
	area = mmap(area, AREA, PROT_READ | PROT_WRITE, MAP_PRIVATE |
		    MAP_ANONYMOUS | (area ? MAP_FIXED : 0), -1, 0);
	MUST(area != MAP_FAILED);
}

static void write_code(const uint8_t *code)
{
	const uint64_t target = (uintptr_t)(area + SECOND);

	memset(area, 0, AREA);
	memcpy(area + FIRST, code, CODE_CALL_SIZE);
	memset(area + CODE_CALL_SIZE, 0x90, SECOND - CODE_CALL_SIZE);
	memcpy(area + SECOND, code, CODE_CALL_SIZE);
	memcpy(area + JUMP, code_jump, CODE_JUMP_SIZE);
	memcpy(area + SLOT, &target, sizeof(target));
}

static void protect(int protection)
{
	MUST(!mprotect(area, AREA, protection));
}

/* By a raw system call, which the module does not see. */
static void protect_silently(int protection)
{
	MUST(!syscall(SYS_mprotect, area, AREA, protection));
}

static unsigned int frame_of(const uint8_t *code)
{
	return code[4];
}

static void make_frames(const uint8_t *code, int debug_frame)
{
	frames_begin(&frames, debug_frame);
	frames_function(&frames, (uintptr_t)area + FIRST, frame_of(code),
			debug_frame);
	frames_function(&frames, (uintptr_t)area + SECOND, frame_of(code),
			debug_frame);
	if (!debug_frame)
		frames_end(&frames);
}

static void make_code(const uint8_t *code)
{
	map_area();
	write_code(code);
	make_frames(code, 0);
}

static void retire(void)
{
	MUST(!munmap(area, AREA));
	area = NULL;
}

/* ---- What is published ----------------------------------------------- */

static void frames_after(void)
{
	make_code(code_call);
	protect(PROT_READ | PROT_EXEC);
	__register_frame(frames.bytes);
	check_function("frames after mprotect()", area + FIRST);
	check_function("frames after mprotect(), second", area + SECOND);
	__deregister_frame(frames.bytes);
	check_lost("frames after mprotect(), removed", area);
	retire();
}

static void frames_before(void)
{
	make_code(code_call);
	__register_frame(frames.bytes);
	protect(PROT_READ | PROT_EXEC);
	check_function("frames before mprotect()", area + FIRST);
	__deregister_frame(frames.bytes);
	check_function("frames before mprotect(), removed", area + FIRST);
	retire();
}

static void forget_frames(int protection)
{
	make_code(code_call);
	__register_frame(frames.bytes);
	protect(protection);
	__deregister_frame(frames.bytes);
}

/* Code stays described when its frames are removed, until it is written. */
static void frames_forgotten(void)
{
	uint8_t *old;

	forget_frames(PROT_READ | PROT_EXEC);
	protect(PROT_READ | PROT_WRITE);
	write_code(code_other);
	protect(PROT_READ | PROT_EXEC);
	TRUE("other code has no window of forgotten frames", !has_window(area));
	check_lost("other code is not walked by forgotten frames", area);
	make_frames(code_other, 0);
	__register_frame(frames.bytes);
	check_function("other code that is described then", area);
	__deregister_frame(frames.bytes);
	retire();

	forget_frames(PROT_READ | PROT_EXEC);
	make_frames(code_call, 0);
	__register_frame(frames.bytes);
	check_function("forgotten frames, registered again", area + SECOND);
	__deregister_frame(frames.bytes);
	check_lost("and removed again, without mprotect()", area);
	retire();

	forget_frames(PROT_READ | PROT_EXEC);
	old = area;
	retire();
	make_code(code_other);
	TRUE("the same memory", area == old);
	protect(PROT_READ | PROT_EXEC);
	TRUE("unmapped code has no window", !has_window(area));
	check_lost("other code in its place is not walked by its rows", area);
	retire();

	forget_frames(PROT_READ | PROT_WRITE | PROT_EXEC);
	TRUE("code that can be written has no window", !has_window(area));
	retire();
}

/* The code is in a file, which is mapped over the described place. */
static void frames_before_mapping(void)
{
	int file = memfd_create("code", MFD_CLOEXEC);

	make_code(code_call);
	MUST(write(file, area, AREA) == AREA);
	map_area();
	__register_frame(frames.bytes);
	MUST(mmap(area, AREA, PROT_READ | PROT_EXEC, MAP_PRIVATE | MAP_FIXED,
		  file, 0) == area);
	close(file);
	check_function("frames before mmap()", area);
	__deregister_frame(frames.bytes);
	check_lost("frames before mmap() of a file, removed", area);
	retire();
}

static int file_of(const uint8_t *code)
{
	int file = memfd_create("code", MFD_CLOEXEC);
	const uint8_t nothing[AREA] = { 0 };

	MUST(write(file, nothing, AREA) == AREA);
	MUST(pwrite(file, code, CODE_CALL_SIZE, FIRST) == CODE_CALL_SIZE);
	MUST(pwrite(file, code, CODE_CALL_SIZE, SECOND) == CODE_CALL_SIZE);
	return file;
}

static void map_over(int protection, int file)
{
	int flags = MAP_PRIVATE | MAP_FIXED | (file < 0 ? MAP_ANONYMOUS : 0);

	MUST(mmap(area, AREA, protection, flags, file, 0) == area);
}

static void described_code(void)
{
	make_code(code_call);
	protect(PROT_READ | PROT_EXEC);
	__register_frame(frames.bytes);
}

/* The same code is mapped over text, or written again. */
static void mapped_over(void)
{
	int file = file_of(code_call);

	make_code(code_call);
	/* As in the file, between the two functions. */
	memset(area + CODE_CALL_SIZE, 0, SECOND - CODE_CALL_SIZE);
	protect(PROT_READ | PROT_EXEC);
	__register_frame(frames.bytes);
	map_over(PROT_READ | PROT_EXEC, file);
	check_function("the same code mapped over itself", area);
	MUST(mmap(area, AREA, PROT_READ | PROT_EXEC, MAP_PRIVATE | MAP_FIXED,
		  -1, 0) == MAP_FAILED);
	check_function("which fails", area + SECOND);
	map_over(PROT_READ, file);
	protect(PROT_READ | PROT_EXEC);
	check_function("the same code, executable later", area);
	__deregister_frame(frames.bytes);
	check_lost("the same code, removed", area);
	close(file);
	retire();

	described_code();
	map_over(PROT_READ | PROT_WRITE, -1);
	TRUE("text that was mapped over has no window", !has_window(area));
	write_code(code_call);
	protect(PROT_READ | PROT_EXEC);
	check_function("the same code written again", area);
	__deregister_frame(frames.bytes);
	retire();
}

/* The new code has no description, although the old frames were not removed. */
static void other_code_over(void)
{
	int file = file_of(code_other);

	described_code();
	map_over(PROT_READ | PROT_EXEC, file);
	TRUE("other code over text has no window", !has_window(area));
	check_lost("other code is not walked by the old rows", area);
	__deregister_frame(frames.bytes);
	make_frames(code_other, 0);
	__register_frame(frames.bytes);
	check_function("other code that is described", area);
	__deregister_frame(frames.bytes);
	retire();

	described_code();
	map_over(PROT_READ | PROT_WRITE, -1);
	write_code(code_other);
	protect(PROT_READ | PROT_EXEC);
	TRUE("other code written there has no window", !has_window(area));
	__deregister_frame(frames.bytes);
	close(file);
	retire();
}

static void frames_before_silence(void)
{
	static struct frames other;
	uint8_t *page;

	page = mmap(NULL, PAGE, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	MUST(page != MAP_FAILED);
	make_code(code_call);
	__register_frame(frames.bytes);
	protect_silently(PROT_READ | PROT_EXEC);
	MUST(!mprotect(page, PAGE, PROT_READ | PROT_EXEC));
	check_function("executable by a system call, then another mprotect()",
		       area);
	__deregister_frame(frames.bytes);
	check_lost("executable by a system call, removed", area);
	retire();

	make_code(code_call);
	__register_frame(frames.bytes);
	protect_silently(PROT_READ | PROT_EXEC);
	frames_begin(&other, 0);
	frames_function(&other, (uintptr_t)page, frame_of(code_call), 0);
	frames_end(&other);
	__register_frame(other.bytes);
	check_function("executable by a system call, then other frames", area);
	__deregister_frame(frames.bytes);
	__deregister_frame(other.bytes);
	retire();
	MUST(!munmap(page, PAGE));
}

/* With its own protection key; -1 where the processor has none. */
static void frames_before_key(void)
{
	int key = pkey_alloc(0, 0);

	make_code(code_call);
	__register_frame(frames.bytes);
	MUST(!pkey_mprotect(area, AREA, PROT_READ | PROT_EXEC, key));
	check_function("frames before pkey_mprotect()", area);
	__deregister_frame(frames.bytes);
	check_function("frames before pkey_mprotect(), removed", area);
	retire();
	if (key >= 0)
		MUST(!pkey_free(key));
}

/* Removed before it was ever executable. */
static void frames_only(void)
{
	make_code(code_call);
	__register_frame(frames.bytes);
	__deregister_frame(frames.bytes);
	protect(PROT_READ | PROT_EXEC);
	check_lost("frames removed before mprotect()", area);
	retire();
}

static void frames_in_parts(void)
{
	uint8_t *second;

	map_area();
	memcpy(area + FIRST, code_call, CODE_CALL_SIZE);
	second = area + 2 * PAGE;
	memcpy(second, code_call, CODE_CALL_SIZE);
	frames_begin(&frames, 0);
	frames_function(&frames, (uintptr_t)area, frame_of(code_call), 0);
	frames_function(&frames, (uintptr_t)second, frame_of(code_call), 0);
	frames_end(&frames);
	MUST(!mprotect(area, PAGE, PROT_READ | PROT_EXEC));
	__register_frame(frames.bytes);
	check_function("a part that is executable", area);
	MUST(!mprotect(second, PAGE, PROT_READ | PROT_EXEC));
	check_function("a part that becomes executable", second);
	check_function("and the other one still", area);
	__deregister_frame(frames.bytes);
	retire();
}

/*
 * The first mapping ends inside of the function, which may span both. The
 * second is also writable, as JIT code may be.
 */
static void over_two_mappings(void)
{
	uint8_t *code;

	map_area();
	code = area + PAGE - 10;
	memcpy(code, code_call, CODE_CALL_SIZE);
	frames_begin(&frames, 0);
	frames_function(&frames, (uintptr_t)code, frame_of(code_call), 0);
	frames_end(&frames);
	MUST(!mprotect(area, PAGE, PROT_READ | PROT_EXEC));
	MUST(!mprotect(area + PAGE, PAGE, PROT_READ | PROT_WRITE | PROT_EXEC));
	__register_frame(frames.bytes);
	check_function("a function in two mappings", code);
	__deregister_frame(frames.bytes);
	check_lost("a function in two mappings, removed", code);
	retire();
}

/* No table has an index of so much. */
static void frames_far_apart(void)
{
	const size_t distance = 5UL << 30;
	uint8_t *far;

	area = mmap(NULL, distance + AREA, PROT_NONE, MAP_PRIVATE |
		    MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	MUST(area != MAP_FAILED);
	far = area + distance;
	map_area();
	MUST(!mprotect(far, PAGE, PROT_READ | PROT_WRITE));
	memcpy(area, code_call, CODE_CALL_SIZE);
	memcpy(far, code_other, CODE_CALL_SIZE);
	frames_begin(&frames, 0);
	frames_function(&frames, (uintptr_t)area, frame_of(code_call), 0);
	frames_function(&frames, (uintptr_t)far, frame_of(code_other), 0);
	frames_end(&frames);
	protect(PROT_READ | PROT_EXEC);
	MUST(!mprotect(far, PAGE, PROT_READ | PROT_EXEC));
	__register_frame(frames.bytes);
	check_function("code that is far apart", area);
	check_function("and the other part", far);
	__deregister_frame(frames.bytes);
	check_lost("code that is far apart, removed", area);
	check_lost("and the other part, removed", far);
	MUST(!munmap(area, distance + AREA));
	area = NULL;
}

static void one_fde(void)
{
	unsigned int fde;

	map_area();
	write_code(code_call);
	frames_begin(&frames, 0);
	fde = frames_function(&frames, (uintptr_t)area, frame_of(code_call), 0);
	frames_end(&frames);
	protect(PROT_READ | PROT_EXEC);
	__register_frame(frames.bytes + fde);
	check_function("one FDE, as for libunwind", area);
	__deregister_frame(frames.bytes + fde);
	check_lost("one FDE, removed", area);
	retire();
}

static void object_calls(void)
{
	void *object[8];

	make_code(code_call);
	protect(PROT_READ | PROT_EXEC);
	__register_frame_info(frames.bytes, object);
	check_function("__register_frame_info()", area);
	TRUE("__deregister_frame_info() has the original's result",
	     __deregister_frame_info(frames.bytes) == object);
	check_lost("__deregister_frame_info()", area);
	retire();
}

/* Frames of one function; the CIE gives the encoding of addresses. */
static void make_frames_of(struct frames *f, uint8_t encoding, uint64_t address)
{
	frames_begin(f, 0);
	f->bytes[16] = encoding;
	frames_function(f, address, frame_of(code_call), 0);
	frames_end(f);
}

#define FROM_TEXT	0x20	/* DW_EH_PE_textrel | DW_EH_PE_absptr */
#define FROM_DATA	0x30	/* DW_EH_PE_datarel | DW_EH_PE_absptr */

static void bases_call(const char *name, uint8_t encoding)
{
	void *text = encoding == FROM_TEXT ? area - PAGE : (uint8_t *)PAGE;
	void *data = encoding == FROM_DATA ? area - PAGE : (uint8_t *)PAGE;
	void *object[8];

	make_frames_of(&frames, encoding, PAGE + SECOND);
	__register_frame_info_bases(frames.bytes, object, text, data);
	check_function(name, area + SECOND);
	TRUE("__deregister_frame_info_bases() has the original's result",
	     __deregister_frame_info_bases(frames.bytes) == object);
	check_lost(name, area + SECOND);
}

static void bases_calls(void)
{
	map_area();
	write_code(code_call);
	protect(PROT_READ | PROT_EXEC);
	bases_call("__register_frame_info_bases(), from text", FROM_TEXT);
	bases_call("__register_frame_info_bases(), from data", FROM_DATA);
	retire();
}

enum table_call { TABLE, TABLE_INFO, TABLE_BASES };

static void call_for_table(enum table_call how, void *table)
{
	static void *object[8];

	if (how == TABLE)
		__register_frame_table(table);
	else if (how == TABLE_INFO)
		__register_frame_info_table(table, object);
	else
		__register_frame_info_table_bases(table, object, area, NULL);
}

static void table_call(enum table_call how, const char *name)
{
	uint64_t at = how == TABLE_BASES ? 0 : (uintptr_t)area;
	uint8_t encoding = how == TABLE_BASES ? FROM_TEXT : 0;
	static struct frames other;
	void *table[] = { frames.bytes, other.bytes, NULL };

	make_frames_of(&frames, encoding, at + FIRST);
	make_frames_of(&other, encoding, at + SECOND);
	call_for_table(how, table);
	check_function(name, area + FIRST);
	check_function(name, area + SECOND);
	if (how == TABLE)
		__deregister_frame(table);
	else
		MUST(__deregister_frame_info(table));
	check_lost(name, area);
}

static void table_calls(void)
{
	map_area();
	write_code(code_call);
	protect(PROT_READ | PROT_EXEC);
	table_call(TABLE, "__register_frame_table()");
	table_call(TABLE_INFO, "__register_frame_info_table()");
	table_call(TABLE_BASES, "__register_frame_info_table_bases()");
	retire();
}

/* libgcc's unwinder needs the frames too, so they must reach it. */
static void original_is_called(void)
{
	struct trace trace = { 0 };

	make_code(code_call);
	protect(PROT_READ | PROT_EXEC);
	__register_frame(frames.bytes);
	call_site((call)area, unwind, &trace);
	result(trace.nr > 4 &&
	       trace.ips[1] == (uintptr_t)area + CODE_CALL_RETURN,
	       "libgcc knows the frames", "%u frames", trace.nr);
	__deregister_frame(frames.bytes);
	retire();
}

/* ---- The interface of gdb -------------------------------------------- */

static void tell_gdb(uint32_t action, struct jit_code_entry *entry)
{
	__jit_debug_descriptor.action_flag = action;
	__jit_debug_descriptor.relevant_entry = entry;
	__jit_debug_descriptor.first_entry = action == 1 ? entry : NULL;
	__jit_debug_register_code();
}

/*
 * The compiler may know that the function changes no register, and keep values
 * in all of them over the call. Here: 9 general registers, 16 vectors, carry.
 */
static void all_registers_are_kept(void)
{
	static uint64_t now[9 + 2 * 16 + 1];
	uint64_t before[9 + 2 * 16 + 1];
	unsigned int i;

	for (i = 0; i < 9 + 2 * 16; i++)
		before[i] = now[i] = 0x0123456789abcdef * (i + 1);
	before[i] = 1;
	__asm__ volatile(
		"mov 0(%%rbx), %%rax; mov 8(%%rbx), %%rcx\n"
		"mov 16(%%rbx), %%rdx; mov 24(%%rbx), %%rsi\n"
		"mov 32(%%rbx), %%rdi; mov 40(%%rbx), %%r8\n"
		"mov 48(%%rbx), %%r9; mov 56(%%rbx), %%r10\n"
		"mov 64(%%rbx), %%r11\n"
		".irp n, 0,1,2,3,4,5,6,7,8,9,10,11,12,13,14,15\n"
		"movdqu 72+16*\\n(%%rbx), %%xmm\\n\n"
		".endr\n"
		"mov %%rsp, %%r12; and $-16, %%rsp\n"
		"stc; call __jit_debug_register_code\n"
		"setc 328(%%rbx)\n"
		"mov %%r12, %%rsp\n"
		"mov %%rax, 0(%%rbx); mov %%rcx, 8(%%rbx)\n"
		"mov %%rdx, 16(%%rbx); mov %%rsi, 24(%%rbx)\n"
		"mov %%rdi, 32(%%rbx); mov %%r8, 40(%%rbx)\n"
		"mov %%r9, 48(%%rbx); mov %%r10, 56(%%rbx)\n"
		"mov %%r11, 64(%%rbx)\n"
		".irp n, 0,1,2,3,4,5,6,7,8,9,10,11,12,13,14,15\n"
		"movdqu %%xmm\\n, 72+16*\\n(%%rbx)\n"
		".endr\n"
		: : "b"(now)
		: "rax", "rcx", "rdx", "rsi", "rdi", "r8", "r9", "r10", "r11",
		  "r12", "xmm0", "xmm1", "xmm2", "xmm3", "xmm4", "xmm5",
		  "xmm6", "xmm7", "xmm8", "xmm9", "xmm10", "xmm11", "xmm12",
		  "xmm13", "xmm14", "xmm15", "memory", "cc");
	TRUE("all registers are kept", !memcmp(now, before, sizeof(now)));
}

static void gdb(const char *name, int debug_frame, bool before)
{
	static struct elf_file file;
	struct jit_code_entry entry = {
		.symfile_addr = &file, .symfile_size = sizeof(file),
	};

	map_area();
	write_code(code_call);
	make_frames(code_call, debug_frame);
	elf_make(&file, &frames, debug_frame, (uintptr_t)area, AREA);
	if (!before)
		protect(PROT_READ | PROT_EXEC);
	tell_gdb(1, &entry);
	/* The same event again is the same file. */
	tell_gdb(1, &entry);
	if (before)
		protect(PROT_READ | PROT_EXEC);
	check_function(name, area);
	check_function(name, area + SECOND);
	tell_gdb(2, &entry);
	if (before)
		check_function("forgotten by gdb's interface", area);
	else
		check_lost(name, area);
	retire();
}

/* Pointers to nowhere, and files that are none. */
static void gdb_mistakes(void)
{
	struct jit_code_entry entry = { .symfile_addr = (void *)16 };

	tell_gdb(1, (void *)16);
	entry.symfile_size = UINT64_MAX;
	tell_gdb(1, &entry);
	entry.symfile_addr = code_call;
	tell_gdb(1, &entry);
	tell_gdb(2, (void *)16);
	tell_gdb(77, NULL);
	__jit_debug_descriptor.version = 2;
	tell_gdb(1, &entry);
	__jit_debug_descriptor.version = 1;
}

static void gdb_all(void)
{
	gdb("gdb's interface, .eh_frame", 0, false);
	gdb("gdb's interface, .eh_frame before mprotect()", 0, true);
	gdb("gdb's interface, .debug_frame", 1, false);
	gdb_mistakes();
	all_registers_are_kept();
}

/* ---- A library with a JIT -------------------------------------------- */

static void *load_library(const uint8_t **code)
{
	char path[PATH_MAX] = "";
	const void *(*plugin_code)(void);
	void *handle;

	MUST(readlink("/proc/self/exe", path, sizeof(path) - 32) > 0);
	strcpy(strrchr(path, '/'), "/plugin-jit.so");
	handle = dlopen(path, RTLD_NOW);
	MUST(handle);
	plugin_code = (const void *(*)(void))dlsym(handle, "plugin_code");
	*code = plugin_code();
	return handle;
}

/* The library is closed, and loaded again after its place was taken. */
static void library(void)
{
	const uint8_t *code, *before;
	void *handle;
	bool had;

	handle = load_library(&before);
	check_function("code of a library", before);
	had = has_window(before);
	MUST(!dlclose(handle));
	if (walks)
		result(had == windows && !has_window(before),
		       "closed, it has no window", "%d before", had);
	MUST(mmap((void *)before, PAGE, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS |
		  MAP_FIXED_NOREPLACE, -1, 0) == before);
	handle = load_library(&code);
	MUST(code != before);
	check_function("loaded again elsewhere", code);
	MUST(!dlclose(handle));
	MUST(!munmap((void *)before, PAGE));
}

/* ---- Beside described text ------------------------------------------- */

static void jumps(void)
{
	const uint64_t head[] = { (uintptr_t)area + JUMP };

	if (check("a jump of a linker", area + JUMP, (call)(area + JUMP), leaf,
		  NULL, head, 1, false) && walks)
		result(true, "a jump of a linker", "-");
}

/* From a function that leaves a wrong rbp. */
static void bare(void)
{
	const uint64_t head[] = { (uintptr_t)area + BARE + 1 };
	struct chain chain;
	char text[1024];

	if (!walks)
		return;
	chain_at(area + BARE + 1, (call)area, (function)(area + BARE), NULL,
		 &chain);
	describe(text, sizeof(text), &chain);
	result(!windows || is_chain(&chain, head, 1, true),
	       "code that nothing describes ends the stack", "%s", text);
}

static void beside(void)
{
	make_code(code_call);
	memset(area + JUMP + CODE_JUMP_SIZE, 0, 8);
	memcpy(area + JUMP + CODE_JUMP_SIZE, code_jump, CODE_JUMP_SIZE);
	*(uint32_t *)(area + JUMP + 2) = PAGE - JUMP - 6;
	*(uint32_t *)(area + JUMP + 8) = PAGE - JUMP - 12;
	*(uint64_t *)(area + PAGE) = (uintptr_t)area + SECOND;
	MUST(!mprotect(area, PAGE, PROT_READ | PROT_EXEC));
	__register_frame(frames.bytes);
	jumps();
	check_function("after which there are jumps", area + SECOND);
	__deregister_frame(frames.bytes);
	retire();

	make_code(code_call);
	memcpy(area + BARE, code_bare, CODE_BARE_SIZE);
	protect(PROT_READ | PROT_EXEC);
	__register_frame(frames.bytes);
	bare();
	__deregister_frame(frames.bytes);
	retire();
}

/* ---- Lives ----------------------------------------------------------- */

static void twice(void)
{
	make_code(code_call);
	protect(PROT_READ | PROT_EXEC);
	__register_frame(frames.bytes);
	__register_frame(frames.bytes);
	check_function("registered twice", area);
	__deregister_frame(frames.bytes);
	check_function("registered twice, removed once", area);
	__deregister_frame(frames.bytes);
	check_lost("removed as often", area);
	__deregister_frame(frames.bytes);
	retire();
}

/* New frames in the place of some that were never removed. */
static void never_removed(void)
{
	make_code(code_call);
	protect(PROT_READ | PROT_EXEC);
	__register_frame(frames.bytes);
	check_function("never removed", area);
	retire();
	make_code(code_other);
	protect(PROT_READ | PROT_EXEC);
	__register_frame(frames.bytes);
	check_function("other frames at their place", area);
	__deregister_frame(frames.bytes);
	check_lost("and these removed", area);
	retire();
}

static void broken(void)
{
	uint32_t length = 16 << 20;

	make_code(code_call);
	protect(PROT_READ | PROT_EXEC);
	memcpy(frames.bytes + 20 + 4, &length, sizeof(length));
	__register_frame(frames.bytes);
	check_lost("a length that leaves memory", area);
	__deregister_frame(frames.bytes);
	__register_frame((void *)16);
	__register_frame(NULL);
	retire();
}

/* The same text, written again without munmap(). */
static void reused_text(void)
{
	make_code(code_call);
	protect(PROT_READ | PROT_EXEC);
	__register_frame(frames.bytes);
	check_function("before its reuse", area);
	__deregister_frame(frames.bytes);
	protect(PROT_READ | PROT_WRITE);
	write_code(code_other);
	make_frames(code_other, 0);
	protect(PROT_READ | PROT_EXEC);
	__register_frame(frames.bytes);
	check_function("text that is used again", area);
	__deregister_frame(frames.bytes);
	retire();
}

/* The frames of the first code are elsewhere, and stay registered. */
static void reused_addresses(void)
{
	static struct frames forgotten;
	uint8_t *same;

	make_code(code_call);
	protect(PROT_READ | PROT_EXEC);
	forgotten = frames;
	__register_frame(forgotten.bytes);
	check_function("with frames that stay", area);
	same = area;
	retire();
	area = same;
	make_code(code_other);
	protect(PROT_READ | PROT_EXEC);
	__register_frame(frames.bytes);
	check_function("addresses that are used again", area);
	__deregister_frame(frames.bytes);
	check_lost("addresses that are used again, removed", area);
	__deregister_frame(forgotten.bytes);
	retire();
}

static void forked(void)
{
	int status;
	pid_t child;

	make_code(code_call);
	protect(PROT_READ | PROT_EXEC);
	__register_frame(frames.bytes);
	fflush(stdout);
	child = fork();
	MUST(child >= 0);
	if (!child) {
		not_the_test();
		if (!walk_function("in a child", area))
			_exit(1);
		__deregister_frame(frames.bytes);
		_exit(0);
	}
	MUST(waitpid(child, &status, 0) == child);
	IS("a child has the windows", status, 0);
	check_function("a child's removal is its own", area);
	__deregister_frame(frames.bytes);
	retire();
}

static volatile bool enough;

/* Frames for unmapped text, to keep the module busy. */
static void *publish_always(void *arg)
{
	static struct frames own;

	frames_begin(&own, 0);
	frames_function(&own, (uintptr_t)arg, 16, 0);
	frames_end(&own);
	while (!enough) {
		__register_frame(own.bytes);
		__deregister_frame(own.bytes);
	}
	return NULL;
}

/* A child works although a thread missing in it was in the module. */
static void forked_at_work(void)
{
	unsigned int i, good = 0;
	pthread_t thread;
	int status;
	pid_t child;

	make_code(code_call);
	protect(PROT_READ | PROT_EXEC);
	MUST(!pthread_create(&thread, NULL, publish_always, (void *)PAGE));
	for (i = 0; i < FORKS; i++) {
		child = fork();
		MUST(child >= 0);
		if (!child) {
			not_the_test();
			__register_frame(frames.bytes);
			if (!walks)
				_exit(0);
			_exit(!check_insn("in a child", area, 13));
		}
		MUST(waitpid(child, &status, 0) == child);
		good += status == 0;
	}
	enough = true;
	pthread_join(thread, NULL);
	IS("children of a process that publishes", good, FORKS);
	retire();
}

/* ---- Many ------------------------------------------------------------ */

static void register_many(struct frames *many)
{
	uint8_t *code = area;
	unsigned int i;

	for (i = 0; i < UNITS; i++, code += UNIT_ROOM) {
		memcpy(code, code_call, CODE_CALL_SIZE);
		frames_begin(&many[i], 0);
		frames_function(&many[i], (uintptr_t)code, frame_of(code_call),
				0);
		frames_end(&many[i]);
		__register_frame(many[i].bytes);
	}
}

static void many_in_silence(void)
{
	static struct frames many[UNITS];
	unsigned int i;

	map_area();
	register_many(many);
	protect_silently(PROT_READ | PROT_EXEC);
	for (i = 0; i < EVENTS; i++)
		tell_gdb(77, NULL);
	check_function("the first of many, executable by a system call", area);
	check_function("the last of many",
		       area + (UNITS - 1) * UNIT_ROOM);
	for (i = 0; i < UNITS; i++)
		__deregister_frame(many[i].bytes);
	retire();
}

/* ---- Two threads ----------------------------------------------------- */

static pthread_barrier_t both;

static int64_t now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec * 1000000000LL + t.tv_nsec;
}

static void sleep_until(int64_t ns)
{
	const struct timespec t = { ns / 1000000000, ns % 1000000000 };

	clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &t, NULL);
}

/* A thread of the same CPU runs as soon as it is woken. */
static void be_in_time(void)
{
	sched_setscheduler(0, SCHED_FIFO, &(struct sched_param) { 1 });
	prctl(PR_SET_TIMERSLACK, 1);
}

static int64_t time_protect(int protection)
{
	int64_t start = now();

	protect(protection);
	return now() - start;
}

/*
 * Aims at the moment after the check whether the text is executable. A call
 * that finds a waiting unit takes many times as long as others, and was too
 * late.
 */
static void *protect_in_time(void *arg)
{
	int64_t short_time = *(int64_t *)arg, delay = 0;
	unsigned int i;

	be_in_time();
	for (i = 0; i < ROUNDS; i++) {
		pthread_barrier_wait(&both);
		sleep_until(now() + delay);
		if (time_protect(PROT_READ | PROT_EXEC) < 4 * short_time)
			delay += random() % 400;
		else if (delay > 400)
			delay -= random() % 400;
		pthread_barrier_wait(&both);
	}
	return NULL;
}

/* On one CPU, so that the other thread runs between two steps of this one. */
static void stay_here(void)
{
	cpu_set_t cpus;

	CPU_ZERO(&cpus);
	CPU_SET(sched_getcpu(), &cpus);
	MUST(!sched_setaffinity(0, sizeof(cpus), &cpus));
}

static void frames_meanwhile(void)
{
	unsigned int i, lost = 0;
	int64_t short_time;
	pthread_t thread;

	make_code(code_call);
	stay_here();
	time_protect(PROT_READ | PROT_EXEC);
	protect(PROT_READ | PROT_WRITE);
	short_time = time_protect(PROT_READ | PROT_EXEC);
	protect(PROT_READ | PROT_WRITE);
	MUST(!pthread_barrier_init(&both, NULL, 2));
	MUST(!pthread_create(&thread, NULL, protect_in_time, &short_time));
	for (i = 0; i < ROUNDS; i++) {
		pthread_barrier_wait(&both);
		__register_frame(frames.bytes);
		pthread_barrier_wait(&both);
		lost += !has_window(area);
		__deregister_frame(frames.bytes);
		protect(PROT_READ | PROT_WRITE);
	}
	pthread_join(thread, NULL);
	if (walks)
		IS("no window is lost to mprotect() in another thread", lost,
		   windows ? 0 : ROUNDS);
	retire();
}

/* The text had its window before it became non-executable. */
static bool had_window;

/*
 * Aims at the moment between the check whether the text is executable and the
 * registration: the text has a window if this came too late. In every other
 * round the text becomes executable again.
 */
static void *forbid_in_time(void *arg)
{
	int64_t delay = 0, step = 100000;
	unsigned int i;

	be_in_time();
	for (i = 0; i < ROUNDS; i++) {
		pthread_barrier_wait(&both);
		sleep_until(now() + delay);
		protect(PROT_READ | PROT_WRITE);
		if (i % 2) {
			sleep_until(now() + random() % 10000);
			protect(PROT_READ | PROT_EXEC);
		}
		pthread_barrier_wait(&both);
		pthread_barrier_wait(&both);
		if (i % 2)
			continue;
		if (!had_window)
			delay += random() % step;
		else if (delay > step)
			delay -= random() % step;
		if (step > 400)
			step -= step / 8;
	}
	return NULL;
}

static void forbidden_meanwhile(void)
{
	unsigned int i, lost = 0;
	pthread_t thread;

	make_code(code_call);
	stay_here();
	MUST(!pthread_barrier_init(&both, NULL, 2));
	MUST(!pthread_create(&thread, NULL, forbid_in_time, NULL));
	for (i = 0; i < ROUNDS; i++) {
		protect(PROT_READ | PROT_EXEC);
		pthread_barrier_wait(&both);
		__register_frame(frames.bytes);
		pthread_barrier_wait(&both);
		had_window = has_window(area);
		pthread_barrier_wait(&both);
		if (i % 2 == 0)
			protect(PROT_READ | PROT_EXEC);
		lost += !has_window(area);
		__deregister_frame(frames.bytes);
	}
	pthread_join(thread, NULL);
	if (walks)
		IS("no window is lost to text that is written meanwhile", lost,
		   windows ? 0 : ROUNDS);
	retire();
}

static void all_many(void)
{
	many_in_silence();
	frames_meanwhile();
	forbidden_meanwhile();
}

/* Input that makes libgcc abort or crash. */
static void all_mistakes(void)
{
	twice();
	never_removed();
	reused_addresses();
	broken();
	forked_at_work();
}

static void all(void)
{
	frames_after();
	frames_before();
	frames_forgotten();
	frames_before_mapping();
	mapped_over();
	other_code_over();
	frames_before_key();
	frames_before_silence();
	frames_only();
	frames_in_parts();
	over_two_mappings();
	frames_far_apart();
	one_fde();
	object_calls();
	bases_calls();
	table_calls();
	original_is_called();
	beside();
	reused_text();
	forked();
	gdb_all();
	library();
}

int main(int argc, char **argv)
{
	walks = argc > 1 && !strncmp(argv[1], "walk", 4);
	windows = argc < 3;
	if (argc > 1 && strstr(argv[1], "mistakes"))
		all_mistakes();
	else if (argc > 1 && strstr(argv[1], "many"))
		all_many();
	else
		all();
	return finish();
}
