// SPDX-License-Identifier: MIT
/*
 * SPDX-FileCopyrightText: 2026 The sfjit authors
 *
 * The true stack of a sample: by libdw, with its registers and its copy of the
 * stack, from the sampled address on. Where code has no call frame information,
 * or libdw cannot use it, follow a frame record or the kernel's own next
 * address, if libdw gets from there to the end of the thread: only a real frame
 * is followed by all the frames of a thread. All else is unknown.
 */
#include <dwarf.h>
#include <stdlib.h>
#include <string.h>

#include "code.h"
#include "oracle.h"

#define NR_DWARF	17
#define DWARF_BP	6
#define DWARF_SP	7
#define RA		16	/* DWARF's number of the return address */

/* Bytes of stack in which the kernel's next address is looked for. */
#define FRAME_MOST	4096
/* Ways that are tried for a sample. */
#define TRIES_MOST	64

/* Which of the recorder's registers DWARF's 0 to 16 are. */
static const unsigned char dwarf_regs[NR_DWARF] = {
	0, 3, 2, 1, 4, 5, REG_BP, REG_SP, 12, 13, 14, 15, 16, 17, 18, 19,
	REG_IP
};

/* Registers of a caller. */
struct place {
	uint64_t ip, sp, bp;
};

static struct walk {
	const struct sample *sample;
	struct process *process;
	struct truth *truth;
	const struct place *from;	/* NULL: from the sample's registers */
	bool first;
	bool missing, above;		/* memory, since the last frame */
	uint64_t bp;			/* of the last frame */
	bool has_bp;
	bool last_record;		/* that led to the last frame has 0 */
	unsigned int tries;
} walk;

bool read_stack(const struct sample *sample, uint64_t addr, uint64_t *word)
{
	uint64_t off = addr - sample->regs[REG_SP];

	if (sample->size < sizeof(*word) ||
	    off > sample->size - sizeof(*word))
		return false;
	memcpy(word, sample->stack + off, sizeof(*word));
	return true;
}

static bool read_memory(Dwfl *dwfl, Dwarf_Addr addr, Dwarf_Word *result,
			void *arg)
{
	uint64_t word;

	if (!read_stack(walk.sample, addr, &word)) {
		walk.missing = true;
		walk.above = addr >= walk.sample->regs[REG_SP];
		return false;
	}
	*result = word;
	return true;
}

/* A caller's rules are those of its call, not of what comes next. */
static bool set_registers(Dwfl_Thread *thread, void *arg)
{
	Dwarf_Word regs[NR_DWARF];
	unsigned int i;

	if (walk.from) {
		regs[0] = walk.from->bp;
		regs[1] = walk.from->sp;
		regs[2] = walk.from->ip - 1;
		return dwfl_thread_state_registers(thread, DWARF_BP, 2, regs) &&
		       dwfl_thread_state_registers(thread, RA, 1, regs + 2);
	}
	for (i = 0; i < NR_DWARF; i++)
		regs[i] = walk.sample->regs[dwarf_regs[i]];
	return dwfl_thread_state_registers(thread, 0, NR_DWARF, regs);
}

static pid_t next_thread(Dwfl *dwfl, void *arg, void **thread_arg)
{
	if (*thread_arg)
		return 0;
	*thread_arg = arg;
	return walk.sample->tid;
}

const Dwfl_Thread_Callbacks thread_callbacks = {
	.next_thread = next_thread,
	.memory_read = read_memory,
	.set_initial_registers = set_registers,
};

typedef Dwarf_CFI *find_cfi(Dwfl_Module *mod, Dwarf_Addr *bias);

static bool has_rule(Dwfl_Module *mod, find_cfi *find, uint64_t pc,
		     bool *outermost)
{
	Dwarf_Op mem[3], *ops;
	Dwarf_Frame *frame;
	Dwarf_Addr bias;
	Dwarf_CFI *cfi;
	size_t nr;

	cfi = find(mod, &bias);
	if (!cfi || dwarf_cfi_addrframe(cfi, pc - bias, &frame))
		return false;
	/* That is how it says "undefined". */
	if (!dwarf_frame_register(frame, RA, mem, &ops, &nr))
		*outermost = !nr && ops == mem;
	free(frame);
	return true;
}

bool has_rules(Dwfl *dwfl, uint64_t pc, bool *outermost)
{
	Dwfl_Module *mod = dwfl_addrmodule(dwfl, pc);

	*outermost = false;
	return mod && (has_rule(mod, dwfl_module_eh_cfi, pc, outermost) ||
		       has_rule(mod, dwfl_module_dwarf_cfi, pc, outermost));
}

/* A file that libdw should have, and does not: it says nothing about it. */
static bool lacks_file(uint64_t pc)
{
	const struct map *map = map_of(walk.process, pc);
	Dwfl_Module *mod = dwfl_addrmodule(walk.process->dwfl, pc);
	const char *name = mod ? dwfl_module_info(mod, NULL, NULL, NULL, NULL,
						  NULL, NULL, NULL) : NULL;

	return map && map->is_elf && (!name || strcmp(name, map->path));
}

/* libdw would go on by frame pointer where it has no rules. */
static int take_frame(Dwfl_Frame *state, void *arg)
{
	struct truth *truth = walk.truth;
	struct frame *frame = &truth->frames[truth->nr];
	bool activation, outermost;
	Dwarf_Word bp;
	Dwarf_Addr pc;

	if (truth->nr == MAX_FRAMES || !dwfl_frame_pc(state, &pc, &activation))
		return DWARF_CB_ABORT;
	*frame = (struct frame) { .ip = pc };
	if (walk.first && walk.from) {
		*frame = (struct frame) {
			.ip = walk.from->ip, .sp = walk.from->sp
		};
	} else if (dwfl_frame_reg(state, DWARF_SP, &frame->sp) ||
		   (walk.from && frame->sp <= frame[-1].sp)) {
		/* A stack goes up, but where a signal has changed it. */
		return DWARF_CB_ABORT;
	}
	walk.first = false;
	walk.has_bp = !dwfl_frame_reg(state, DWARF_BP, &bp);
	walk.bp = bp;
	walk.last_record = false;
	walk.missing = false;
	truth->nr++;
	pc -= !activation;
	if (!has_rules(arg, pc, &outermost)) {
		truth->ending = lacks_file(pc) ? NO_FILE : NO_CFI;
		return DWARF_CB_ABORT;
	}
	truth->ending = FAILED;
	if (!outermost)
		return DWARF_CB_OK;
	truth->ending = OUTERMOST;
	return DWARF_CB_ABORT;
}

/* Frames by call frame information, as far as there is any. */
static void follow(const struct place *from)
{
	Dwfl *dwfl = dwfl_of(walk.process);
	struct truth *truth = walk.truth;
	unsigned int nr = truth->nr;

	walk.from = from;
	walk.first = true;
	walk.last_record = false;
	walk.missing = false;
	truth->ending = NO_CFI;
	if (dwfl)
		dwfl_getthread_frames(dwfl, walk.sample->tid, take_frame, dwfl);
	if (truth->nr == nr) {
		truth->frames[truth->nr++] = (struct frame) {
			.ip = from ? from->ip : walk.sample->regs[REG_IP],
			.sp = from ? from->sp : walk.sample->regs[REG_SP],
		};
		walk.bp = from ? from->bp : walk.sample->regs[REG_BP];
		walk.has_bp = true;
	}
	if (truth->ending == FAILED && walk.missing)
		truth->ending = TRUNCATED;
}

static bool reach_end(void);

enum kind { RECORD, WORD };

/*
 * Whether the end of the thread can be reached from there, or nothing changes. A
 * word that is the kernel's next address may be anything: it needs a caller that
 * call frame information finds.
 */
static bool try_place(const struct place *place, enum kind kind)
{
	struct truth *truth = walk.truth;
	const enum ending ending = truth->ending;
	const unsigned int nr = truth->nr;
	struct frame *frame = &truth->frames[nr];
	const struct walk saved = walk;

	if (!walk.tries || nr == MAX_FRAMES ||
	    place->sp <= frame[-1].sp ||
	    !is_return_address(walk.process, place->ip))
		return false;
	walk.tries--;
	follow(place);
	walk.last_record = kind == RECORD && !place->bp && truth->nr == nr + 1;
	if ((kind == RECORD || truth->nr > nr + 1) && reach_end()) {
		frame->searched = true;
		frame->gap = !is_direct_call(walk.process, place->ip,
					     frame[-1].ip);
		return true;
	}
	truth->nr = nr;
	truth->ending = ending;
	walk.bp = saved.bp;
	walk.has_bp = saved.has_bp;
	walk.last_record = saved.last_record;
	return false;
}

/* By the frame record that the frame pointer leads to. */
static bool try_record(void)
{
	struct place place = { .sp = walk.bp + 16 };

	return walk.has_bp && read_stack(walk.sample, walk.bp, &place.bp) &&
	       read_stack(walk.sample, walk.bp + 8, &place.ip) &&
	       try_place(&place, RECORD);
}

/* The kernel's next address, if its chain has the frames up to here. */
static uint64_t kernel_next(void)
{
	const struct sample *sample = walk.sample;
	const struct truth *truth = walk.truth;
	unsigned int i;

	if (sample->nr <= truth->nr)
		return 0;
	for (i = 0; i < truth->nr; i++)
		if (sample->ip[i] != truth->frames[i].ip)
			return 0;
	return sample->ip[truth->nr];
}

/* Its place is where the stack has that address. */
static bool try_kernel(uint64_t from, uint64_t to)
{
	struct place place = { .ip = kernel_next() };
	uint64_t bp = walk.bp, at, word;

	if (!place.ip || !walk.has_bp)
		return false;
	for (at = from; at < to; at += 8) {
		if (!read_stack(walk.sample, at, &word))
			return false;
		if (word != place.ip)
			continue;
		place.sp = at + 8;
		place.bp = bp;
		if (try_place(&place, WORD))
			return true;
		if (read_stack(walk.sample, at - 8, &place.bp) &&
		    try_place(&place, WORD))
			return true;
	}
	return false;
}

/* What is nearest is the caller. */
static bool search(void)
{
	uint64_t sp = walk.truth->frames[walk.truth->nr - 1].sp;
	uint64_t end = sp + FRAME_MOST, record = walk.bp + 8;

	if (!walk.has_bp || record - sp > FRAME_MOST)
		return try_kernel(sp, end) || try_record();
	return try_kernel(sp, record) || try_record() ||
	       try_kernel(record, end);
}

/*
 * Whether the stack that is found so far is one: down to the first function of the
 * thread, or to where the copy ends. The first function of code with frame
 * pointers stores 0.
 */
static bool reach_end(void)
{
	struct truth *truth = walk.truth;

	switch (truth->ending) {
	case OUTERMOST:
		return true;
	case TRUNCATED:
		return walk.above;
	case NO_FILE:
		return false;
	default:
		if (search())
			return true;
		if (walk.last_record)
			truth->ending = OUTERMOST;
		return walk.last_record;
	}
}

void find_truth(const struct sample *sample, struct process *process,
		struct truth *truth)
{
	truth->nr = 0;
	walk = (struct walk) {
		.sample = sample,
		.process = process,
		.truth = truth,
		.tries = TRIES_MOST,
	};
	follow(NULL);
	reach_end();
}
