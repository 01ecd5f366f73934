// SPDX-License-Identifier: MIT
/*
 * SPDX-FileCopyrightText: 2026 The sfjit authors
 *
 * usage: replay-steps CORPUS...
 *
 * Unwinds the stack of each sample again, in two ways, and compares the chains
 * with the kernel's.
 *
 * By sfg_step_section(). The kernel's other rules are here: code without a
 * window is unwound by frame pointer, and a signal frame is read from the
 * stack.
 *
 * By libsfjit-stacks, from a copy of the stack, by call frame information made
 * from each function's rows.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sfjit-stacks.h>
#include <sframegen.h>

#include "tap.h"
#include "corpus.h"

#define FP		SFJIT_X86_64_FP
#define SP		SFJIT_X86_64_SP
/* perf's chains, and deferred ones. */
#define MOST_AT_ONCE	127

static struct {
	struct task_window window;
	struct sfg_section section;
} windows[TASK_MAX_WINDOWS];
static unsigned int nr_windows;

static struct {
	const struct task_word *words;
	unsigned int nr;
	const unsigned char *stack;
	unsigned long addr, size;
} memory;

static const unsigned long *regs;

static struct {
	char name[256];
	unsigned long samples;
	struct outcome {
		unsigned long other;
		char why[128];	/* of the first */
	} rows, library;
} process;

static struct sfjit_stacks *stacks;

/* By enum task_reg; of the others no rule speaks. */
static const int dwarf_number[TASK_NR_REGS] = {
	15, 14, 13, 12, FP, 3, 11, 10, 9, 8, 0, 2, 1, 4, 5,
	-1, -1, -1, -1, SP, -1,
};

static int perf_bit(unsigned int reg)
{
	if (reg == TASK_IP)
		return sfg_perf_pc(SFRAME_ABI_AMD64_LE);
	return dwarf_number[reg] < 0 ? -1 :
	       sfg_perf_register(SFRAME_ABI_AMD64_LE, dwarf_number[reg]);
}

/* ---- A process -------------------------------------------------------- */

#define PID		1
/* Whatever is no window is walked by frame pointer. */
#define LOWEST		4096
#define HIGHEST		(1ULL << 47)
/* From code to its call frame information; that lies nowhere. */
#define DISTANCE	(1ULL << 30)
#define TABLE_MOST	(1U << 18)

void task_init(void)
{
	struct sfjit_stacks_mapping everything = {
		.start = LOWEST, .length = HIGHEST - LOWEST,
		.path = "//anon", .executable = true,
	};

	nr_windows = 0;
	sfjit_stacks_end(stacks);
	MUST(!sfjit_stacks_begin(NULL, &stacks));
	MUST(!sfjit_stacks_mmap(stacks, PID, 0, &everything));
}

static void load(unsigned int kind, uint64_t start, uint64_t length,
		 const uint8_t *table, size_t table_length)
{
	struct sfjit_stacks_code code = {
		.start = start, .length = length, .kind = kind,
		.table = table, .table_length = table_length,
		.table_address = start + DISTANCE,
	};

	MUST(!sfjit_stacks_jit_load(stacks, PID, 0, &code));
}

/* As glibc has it: each register is in struct ucontext, at the stack pointer. */
static const uint8_t signal_frame[] = {
	/* a CIE: "zRS", factors 1 and -8, the pc in 16, addresses as they are */
	20, 0, 0, 0, 0, 0, 0, 0, 1, 'z', 'R', 'S', 0, 1, 0x78, 16, 1, 0,
	0, 0, 0, 0, 0, 0,
	/* its FDE, with the address and the size in 8 bytes each */
	48, 0, 0, 0, 28, 0, 0, 0,
#define SIGNAL_AT	32
	0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0,
	/* the CFA is the old rsp; rbp, rsp and rip follow it */
	0x0f, 4, 0x77, 0xa0, 1, 0x06,
	0x10, 6, 3, 0x77, 0xf8, 0,
	0x10, 7, 3, 0x77, 0xa0, 1,
	0x10, 16, 3, 0x77, 0xa8, 1,
	0, 0, 0,
	0, 0, 0, 0,
};

static void load_signal(uint64_t start, uint64_t length)
{
	uint8_t table[sizeof(signal_frame)];

	memcpy(table, signal_frame, sizeof(table));
	memcpy(table + SIGNAL_AT, &start, 8);
	memcpy(table + SIGNAL_AT + 8, &length, 8);
	load(SFJIT_STACKS_EH_FRAME, start, length, table, sizeof(table));
}

/* A function whose rows repeat has a description for each time. */
static void load_rows(const struct sfjit_function *function)
{
	static uint8_t table[TABLE_MOST];
	struct sfjit_function one = *function;
	size_t used, hdr;
	uint64_t at;

	if (function->repeat)
		one.size = function->repeat;
	MUST(!sfg_write_cfi(SFRAME_ABI_AMD64_LE, &one, DISTANCE, table,
			    sizeof(table), &used, &hdr));
	for (at = 0; at < function->size; at += one.size)
		load(SFJIT_STACKS_EH_FRAME, function->addr + at, one.size,
		     table, used - hdr);
}

static void load_function(struct sfg_row_reader *reader)
{
	struct sfjit_function function = reader->fde;
	struct sfjit_row *rows = calloc(reader->left + 1, sizeof(*rows));

	MUST(rows);
	function.rows = rows;
	function.nr_rows = 0;
	while (!sfg_read_row(reader, &rows[function.nr_rows], NULL))
		function.nr_rows++;
	if (function.flags & SFJIT_FUNCTION_SIGNAL)
		load_signal(function.addr, function.size);
	else if (function.nr_rows)
		load_rows(&function);
	free(rows);
}

int task_add_window(const struct task_window *window)
{
	struct sfg_section *section = &windows[nr_windows].section;
	struct sfg_row_reader reader;
	uint32_t i;
	int ret;

	windows[nr_windows++].window = *window;
	ret = sfg_open_section(section, window->bytes, window->length,
			       window->addr, NULL);
	if (ret)
		return ret;
	load(SFJIT_STACKS_UNKNOWN, window->text_start,
	     window->text_end - window->text_start, NULL, 0);
	for (i = 0; i < section->header.num_fdes; i++)
		if (!sfg_read_fde(section, i, &reader, NULL))
			load_function(&reader);
	return 0;
}

void task_set_memory(const struct task_word *words, unsigned int nr,
		     const unsigned char *stack, unsigned long addr,
		     unsigned long size)
{
	memory.words = words;
	memory.nr = nr;
	memory.stack = stack;
	memory.addr = addr;
	memory.size = size;
}

void task_set_regs(const unsigned long *values)
{
	regs = values;
}

static bool read_word(void *arg, uint64_t addr, uint64_t *word)
{
	unsigned int i;

	for (i = 0; i < memory.nr; i++)
		if (memory.words[i].addr == addr) {
			*word = memory.words[i].value;
			return true;
		}
	if (addr - memory.addr >= memory.size ||
	    memory.size - (addr - memory.addr) < 8)
		return false;
	memcpy(word, memory.stack + (addr - memory.addr), 8);
	return true;
}

static const struct sfg_section *find_section(uint64_t addr)
{
	unsigned int i;

	for (i = 0; i < nr_windows; i++)
		if (addr >= windows[i].window.text_start &&
		    addr < windows[i].window.text_end)
			return &windows[i].section;
	return NULL;
}

/* ---- What the kernel alone knows -------------------------------------- */

static int step_by_fp(struct sfg_frame *frame)
{
	uint64_t fp = frame->reg[FP], caller, ra;

	if (fp < frame->reg[SP] || fp % 8 || !read_word(NULL, fp, &caller) ||
	    !read_word(NULL, fp + 8, &ra))
		return -EFAULT;
	frame->reg[FP] = caller;
	frame->reg[SP] = fp + 16;
	frame->known = 1u << FP | 1u << SP;
	frame->pc = ra;
	frame->called = true;
	return 0;
}

/* The registers in struct ucontext, at the stack pointer. */
static int step_signal(struct sfg_frame *frame)
{
	uint64_t context = frame->reg[SP] + 40, fp, sp, pc;

	if (!read_word(NULL, context + 10 * 8, &fp) ||
	    !read_word(NULL, context + 15 * 8, &sp) ||
	    !read_word(NULL, context + 16 * 8, &pc))
		return -EFAULT;
	frame->reg[FP] = fp;
	frame->reg[SP] = sp;
	frame->known = 1u << FP | 1u << SP;
	frame->pc = pc;
	frame->called = false;
	return 0;
}

static bool is_signal(const struct sfg_section *section, uint64_t addr)
{
	struct sfjit_function fde = { .flags = 0 };
	struct sfjit_row row;
	int ret = sfg_find_row(section, addr, &fde, &row, NULL);

	return fde.flags & SFJIT_FUNCTION_SIGNAL &&
	       (ret == -ENOENT ||
		(!ret && !sfg_row_is_called(SFG_HOST_ABI, &row)));
}

static int step(struct sfg_frame *frame)
{
	uint64_t addr = frame->pc - frame->called;
	const struct sfg_section *section = find_section(addr);

	if (!section)
		return step_by_fp(frame);
	if (is_signal(section, frame->pc))
		return step_signal(frame);
	return sfg_step_section(section, 0, frame);
}

/* ---- Samples ---------------------------------------------------------- */

static void walk(const struct sample *sample, struct task_chain *chain)
{
	unsigned int most = sample->deferred ? TASK_MAX_CHAIN : MOST_AT_ONCE, i;
	struct sfg_frame frame = {
		.pc = regs[TASK_IP], .budget = SFG_FRAME_BUDGET,
		.read = read_word,
	};

	for (i = 0; i < TASK_NR_REGS; i++)
		if (dwarf_number[i] >= 0) {
			frame.reg[dwarf_number[i]] = regs[i];
			frame.known |= 1u << dwarf_number[i];
		}
	chain->nr = 0;
	do {
		chain->ip[chain->nr++] = frame.pc;
	} while (chain->nr < most && !step(&frame) && frame.pc);
}

/* ---- By the library --------------------------------------------------- */

#define COPY_MOST	(1U << 18)

/* What was not recorded is 0, and ends the stack as well. */
static size_t copy_stack(uint64_t sp, uint8_t *copy)
{
	size_t length = 0;
	unsigned int i;
	uint64_t at;

	memset(copy, 0, COPY_MOST);
	for (i = 0; i < memory.nr; i++) {
		at = memory.words[i].addr - sp;
		if (at > COPY_MOST - 8)
			continue;
		memcpy(copy + at, &memory.words[i].value, 8);
		if (at + 8 > length)
			length = at + 8;
	}
	return length;
}

static int keep(void *arg, const struct sfjit_stacks_frame *frame)
{
	struct task_chain *chain = arg;

	chain->ip[chain->nr++] = frame->ip;
	return chain->nr == TASK_MAX_CHAIN;
}

static void walk_by_library(const struct sample *sample,
			    struct task_chain *chain)
{
	static uint8_t copy[COPY_MOST];
	uint64_t values[64];
	struct sfjit_stacks_sample taken = {
		.pid = PID, .registers = values, .stack = copy,
	};
	unsigned int i, bit, nr = 0;

	for (bit = 0; bit < 64; bit++)
		for (i = 0; i < TASK_NR_REGS; i++)
			if (perf_bit(i) == (int)bit) {
				taken.mask |= 1ULL << bit;
				values[nr++] = regs[i];
			}
	taken.stack_length = copy_stack(regs[TASK_SP], copy);
	chain->nr = 0;
	MUST(sfjit_stacks_frames(stacks, &taken, keep, chain, NULL) > 0);
	if (!sample->deferred && chain->nr > MOST_AT_ONCE)
		chain->nr = MOST_AT_ONCE;
}

/* ---- Chains ----------------------------------------------------------- */

static void say(const char *way, struct outcome *outcome)
{
	char name[512];

	snprintf(name, sizeof(name), "%s, %s", process.name, way);
	result(!outcome->other, name,
	       "%lu of %lu samples have another chain, first: %s",
	       outcome->other, process.samples, outcome->why);
	*outcome = (struct outcome){ .other = 0 };
}

static void say_process(void)
{
	if (!*process.name)
		return;
	say("by rows", &process.rows);
	say("by the library", &process.library);
}

static void begin_process(const char *name)
{
	say_process();
	snprintf(process.name, sizeof(process.name), "%s", name);
	process.samples = 0;
}

static void compare(const struct sample *sample, const struct task_chain *got,
		    struct outcome *outcome)
{
	const struct task_chain *want = &sample->chain;
	unsigned int i = 0;

	while (i < got->nr && i < want->nr && got->ip[i] == want->ip[i])
		i++;
	if (i == got->nr && i == want->nr)
		return;
	if (!outcome->other++)
		snprintf(outcome->why, sizeof(outcome->why),
			 "at %lx, frame %u of %u, not %u", want->ip[0], i,
			 want->nr, got->nr);
}

static void take(const struct sample *sample)
{
	static struct task_chain chain;

	process.samples++;
	walk(sample, &chain);
	compare(sample, &chain, &process.rows);
	walk_by_library(sample, &chain);
	compare(sample, &chain, &process.library);
}

int main(int argc, char **argv)
{
	static const struct corpus_calls calls = { begin_process, take };
	int i;

	for (i = 1; i < argc; i++) {
		corpus_read(argv[i], &calls);
		say_process();
		*process.name = 0;
	}
	sfjit_stacks_end(stacks);
	return finish();
}
