// SPDX-License-Identifier: MIT
// SPDX-FileCopyrightText: 2026 The sfjit authors
/* What the unwinder asks of the kernel, for one task that stands still. */
#include <linux/sframe.h>
#include <linux/unwind_user.h>

#include "sframe.h"
#include "task.h"
#include "alone.h"
#include "no-files.h"

#define MAX_READS	4096

/* Not in the way of anything. */
#define OPTS_ADDR	0x10000UL

/* kernel.perf_event_max_stack */
#define PERF_MAX_STACK	127

struct task_struct shim_task;
struct pt_regs shim_regs;
unsigned long shim_trampoline;
bool shim_function_start;
bool shim_compat;
bool shim_has_mask = true;

static struct mm_struct task_mm;
static struct sframe_registry registry;
static struct sframe_window *windows[TASK_MAX_WINDOWS];
static struct task_window sections[TASK_MAX_WINDOWS];
static unsigned int nr_windows, nr_sections;

static struct sframe_window_opts opts;

static struct {
	const struct task_word *words;
	unsigned int nr_words;
	const u8 *stack;
	unsigned long addr, size;
} memory;

static struct task_read reads[MAX_READS];
static unsigned int nr_reads;
static const unsigned int *nr_frames;
static bool one_by_one;

/* No code is recorded. */
int unwind_user_code_pushes(const u8 *code, unsigned int length)
{
	return -1;
}

/* Memory. */

static bool is_in(unsigned long addr, unsigned long size, unsigned long start,
		  unsigned long length)
{
	return addr - start < length && size <= length - (addr - start);
}

static const u8 *find_section(unsigned long addr, unsigned long size)
{
	const struct task_window *section;
	unsigned int i;

	for (i = 0; i < nr_sections; i++) {
		section = &sections[i];
		if (is_in(addr, size, section->addr, section->length))
			return section->bytes + (addr - section->addr);
	}
	return NULL;
}

static const u8 *find_word(unsigned long addr, unsigned long size)
{
	const struct task_word *word;
	unsigned int i;

	for (i = 0; i < memory.nr_words; i++) {
		word = &memory.words[i];
		if (is_in(addr, size, word->addr, sizeof(word->value)))
			return (const u8 *)&word->value + (addr - word->addr);
	}
	return NULL;
}

static const u8 *find_stack(unsigned long addr, unsigned long size)
{
	const u8 *from = find_word(addr, size);

	if (!from && is_in(addr, size, memory.addr, memory.size))
		from = memory.stack + (addr - memory.addr);
	return from;
}

static void note_read(unsigned long addr, const u8 *from, unsigned int size)
{
	struct task_read *read = &reads[nr_reads];

	if (!nr_frames || size > sizeof(read->word.value))
		return;
	if (nr_reads == MAX_READS)
		finding("reads without end");
	nr_reads++;
	*read = (struct task_read) {
		.word.addr = addr, .frames = *nr_frames, .there = from,
	};
	if (from)
		memcpy(&read->word.value, from, size);
}

static const u8 *find_memory(unsigned long addr, unsigned int size)
{
	const u8 *from = find_section(addr, size);

	if (from)
		return from;
	if (is_in(addr, size, OPTS_ADDR, sizeof(opts)))
		return (const u8 *)&opts + (addr - OPTS_ADDR);
	from = find_stack(addr, size);
	note_read(addr, from, size);
	return from;
}

static int read_memory(void *dst, unsigned long addr, unsigned int size)
{
	const u8 *from = find_memory(addr, size);

	if (!from)
		return -EFAULT;
	memcpy(dst, from, size);
	return 0;
}

bool shim_access_ok(unsigned long addr, unsigned long size, bool small)
{
	if (small)
		return addr <= TASK_SIZE;
	return addr + size >= addr && addr + size <= TASK_SIZE;
}

bool shim_access_begin(unsigned long addr, unsigned long size)
{
	return shim_access_ok(addr, size, false);
}

void shim_access_end(void)
{
}

unsigned long shim_mask_table(unsigned long addr)
{
	return addr;
}

unsigned long shim_mask(unsigned long addr)
{
	return addr;
}

unsigned long shim_index_nospec(unsigned long index, unsigned long size)
{
	return index;
}

int shim_unsafe_load(void *dst, unsigned long addr, unsigned int size)
{
	return read_memory(dst, addr, size);
}

int shim_get_user(void *dst, unsigned long addr, unsigned int size)
{
	return read_memory(dst, addr, size);
}

int shim_get_user_unchecked(void *dst, unsigned long addr, unsigned int size)
{
	return read_memory(dst, addr, size);
}

void shim_might_fault(void)
{
}

unsigned long copy_from_user(void *dst, const void *src, unsigned long size)
{
	return read_memory(dst, (unsigned long)src, size) ? size : 0;
}

int copy_struct_from_user(void *dst, size_t ksize, const void *src,
			  size_t usize)
{
	return copy_from_user(dst, src, ksize) ? -EFAULT : 0;
}

size_t fault_in_readable(const char *src, size_t size)
{
	return find_memory((unsigned long)src, size) ? 0 : size;
}

/* Time stands still. */

u64 local_clock(void)
{
	return 0;
}

/* The registry. */

struct sframe_range sframe_lookup(struct sframe_registry *reg,
				  unsigned long ip)
{
	struct sframe_range range = { .last = ULONG_MAX };
	unsigned int i;

	for (i = 0; i < nr_windows; i++) {
		struct sframe_window *window = windows[i];

		if (ip >= window->text_end) {
			range.first = max(range.first, window->text_end);
		} else if (ip < window->text_start) {
			range.last = min(range.last, window->text_start - 1);
		} else {
			range.window = window;
			range.first = max(range.first, window->text_start);
			range.last = min(range.last, window->text_end - 1);
		}
	}
	return range;
}

bool __sframe_mm_has_windows(struct mm_struct *mm)
{
	return nr_windows;
}

struct sframe_window *sframe_window_alloc(const struct sframe_window *draft)
{
	struct sframe_window *window = calloc(1, sizeof(*window));

	if (window)
		*window = *draft;
	return window;
}

void sframe_window_free(struct sframe_window *window)
{
	free(window);
}

int sframe_register(struct sframe_window *window, bool replace)
{
	windows[nr_windows++] = window;
	return 0;
}

int sframe_unregister(unsigned long key)
{
	return -ENOENT;
}

int sframe_window_limit(void)
{
	return TASK_MAX_WINDOWS;
}

u64 sframe_walk_limit(void)
{
	return 1;
}

/* Steps. */

unsigned int __real_sframe_steps(struct unwind_user_state *state,
				 unsigned long *ips, unsigned int max);
unsigned int __wrap_sframe_steps(struct unwind_user_state *state,
				 unsigned long *ips, unsigned int max)
{
	return one_by_one ? 0 : __real_sframe_steps(state, ips, max);
}

void task_step_one_by_one(void)
{
	one_by_one = true;
}

/* Tasks. */

void task_init(void)
{
	shim_task.mm = &task_mm;
	task_mm.sframe = &registry;
	nr_sections = 0;
	while (nr_windows)
		sframe_window_free(windows[--nr_windows]);
}

int task_register(const struct task_window *window)
{
	if (nr_sections == TASK_MAX_WINDOWS)
		finding("too many windows");
	opts = (struct sframe_window_opts) {
		.size = sizeof(opts),
		.text_start = window->text_start,
		.text_length = window->text_end - window->text_start,
		.format = window->packed ? SFRAME_FORMAT_PACKED :
					   SFRAME_FORMAT_V3,
		.text_bias = window->bias,
	};
	sections[nr_sections++] = *window;
	return sframe_prctl_register(window->text_start, window->addr,
				     window->length, OPTS_ADDR);
}

void task_set_memory(const struct task_word *words, unsigned int nr,
		     const unsigned char *stack, unsigned long addr,
		     unsigned long size)
{
	memory.words = words;
	memory.nr_words = nr;
	memory.stack = stack;
	memory.addr = addr;
	memory.size = size;
}

static_assert(sizeof(struct pt_regs) == TASK_NR_REGS * sizeof(long));
static_assert(offsetof(struct pt_regs, sp) == TASK_SP * sizeof(long));

void task_set_regs(const unsigned long *regs)
{
	memcpy(&shim_regs, regs, sizeof(shim_regs));
}

static void walk_at_once(struct task_chain *chain)
{
	struct perf_callchain_entry addresses = { .ip = (u64 *)chain->ip };
	struct perf_callchain_entry_ctx entry = {
		.entry = &addresses,
		.max_stack = PERF_MAX_STACK,
	};

	nr_frames = &entry.nr;
	perf_callchain_store(&entry, instruction_pointer(&shim_regs));
	sframe_callchain_user(&entry, &shim_regs);
	chain->nr = entry.nr;
}

static void walk_deferred(struct task_chain *chain)
{
	struct unwind_stacktrace trace = { .entries = chain->ip };

	nr_frames = &trace.nr;
	unwind_user(&trace, TASK_MAX_CHAIN);
	chain->nr = trace.nr;
}

void task_walk(struct task_chain *chain, bool deferred)
{
	nr_reads = 0;
	if (deferred)
		walk_deferred(chain);
	else
		walk_at_once(chain);
	nr_frames = NULL;
}

const struct task_read *task_reads(unsigned int *nr)
{
	*nr = nr_reads;
	return reads;
}
