// SPDX-License-Identifier: MIT
// SPDX-FileCopyrightText: 2026 The sfjit authors
/*
 * usage: kernel-known
 *
 * Steps by rules that are at hand: which are made, and which are left to the
 * ordinary step.
 */
#include <linux/sframe.h>

#include "sframe_cache.h"
#include "sframe_known.h"
#include "user.h"
#include "alone.h"
#include "machine.h"

int printf(const char *format, ...);

#define TEXT		0x10000000UL
#define FUNC_SIZE	0x40
#define WINDOW_SIZE	0x100
#define LIBRARY		0x20000000UL	/* its rules are in the cache */
#define STACK		0x30000000UL
#define STACK_WORDS	64
#define FP		(STACK + 0x100)

void (*shim_at_point)(void);
bool shim_has_mask = true;
struct task_struct shim_task;

static unsigned long stack[STACK_WORDS];
static struct sframe_registry registry = { .id = 1, .seq = 1 };
static struct unwind_user_state state;
static unsigned long ips[SFRAME_KNOWN_STEPS];
static unsigned int tried, sections;
static bool is_fallback;
static bool time_is_over, open;
static u64 clock;

/* A window with one row. */
static union {
	struct sframe_window window;
	char space[sizeof(struct sframe_window) +
		   sizeof(struct sframe_small_row)];
} small = {
	.window = {
		.text_start = TEXT, .text_end = TEXT + WINDOW_SIZE,
		.func = { .start = TEXT, .size = FUNC_SIZE }, .nr_rows = 1,
	},
};

/* Words of a frame, from the caller's stack pointer. */
#define CFA(off)	((off) + MACHINE_SAVED)
#define SAVED_AT(off)	{ UNWIND_USER_FROM_CFA | UNWIND_USER_DEREF, 0,	\
			  (off) - MACHINE_SAVED }

static const struct unwind_user_frame by_sp = {
	.cfa = { UNWIND_USER_FROM_SP, 0, CFA(16) },
	.ra = SAVED_AT(-8),
	.sp_off = -MACHINE_SAVED,
	.kind = UNWIND_USER_FRAME_PLAIN,
};

static const struct unwind_user_frame by_fp = {
	.cfa = { UNWIND_USER_FROM_FP, 0, CFA(16) },
	.ra = SAVED_AT(-8),
	.fp = SAVED_AT(-16),
	.sp_off = -MACHINE_SAVED,
	.kind = UNWIND_USER_FRAME_PLAIN,
};

/* Functions of the kernel that steps call. */

u64 local_clock(void)
{
	return ++clock;
}

enum sframe_reason sframe_look(struct sframe_walk *walk)
{
	walk->slack = SFRAME_INTERVAL;
	return time_is_over ? SFRAME_REASON_DEADLINE : SFRAME_REASON_NONE;
}

/* Only the registration of packed tables calls these. */
int sframe_check_range(unsigned long addr, unsigned long len,
		       unsigned long least)
{
	return -EINVAL;
}

unsigned long copy_from_user(void *dst, const void *src, unsigned long size)
{
	return size;
}

void shim_own_cpu(void)
{
}

bool shim_access_begin(unsigned long addr, unsigned long size)
{
	if (open)
		finding("user access is opened twice");
	open = true;
	sections++;
	return true;
}

void shim_access_end(void)
{
	open = false;
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
	if (!open)
		finding("user memory is read without being opened");
	if (addr - STACK >= sizeof(stack))
		return -EFAULT;
	memcpy(dst, (char *)stack + (addr - STACK), size);
	return 0;
}

/* Cases. */

static void store(unsigned long ip, const struct unwind_user_frame *frame)
{
	state.ip = ip;
	sframe_cache_store(&state, frame, ip - 1, 1);
}

/* A frame in the library, whose caller by either rule is at LIBRARY + 0x100. */
static void begin(void)
{
	unsigned int i;

	if (state.sframe.cache)
		sframe_walk_detach(&state);
	time_is_over = false;
	for (i = 0; i < STACK_WORDS; i++)
		stack[i] = LIBRARY + 0x100;
	registry.id++;
	state = (struct unwind_user_state) {
		.ip = LIBRARY, .sp = STACK, .fp = FP, .ws = 8,
		.sframe = {
			.reg = &registry, .seq = registry.seq,
			.slack = SFRAME_INTERVAL,
		},
	};
	sframe_walk_attach(&state);
	store(LIBRARY, &by_sp);
}

static void expect(const char *what, unsigned int nr, unsigned long sp,
		   unsigned long fp)
{
	struct unwind_user_state before = state;
	unsigned int steps;

	tried++;
	steps = sframe_steps_known(&state, ips, SFRAME_KNOWN_STEPS);
	if (open)
		finding("user access is left open");
	if (steps != nr)
		finding(what);
	if (nr && (ips[nr - 1] != LIBRARY + 0x100 || state.ip != ips[nr - 1]))
		finding(what);
	if (state.sp != sp || state.fp != fp)
		finding(what);
	if (!time_is_over && before.sframe.slack >= SFRAME_STACK_READS &&
	    before.sframe.slack - state.sframe.slack !=
	    (is_fallback ? 0 : (int)nr * SFRAME_STACK_READS))
		finding("other steps are paid for");
}

static void refused(const char *what)
{
	expect(what, 0, state.sp, state.fp);
	if (state.ip != LIBRARY && state.ip != TEXT + FUNC_SIZE + 1)
		finding("a step that was not made has changed the state");
}

static void try_cached(void)
{
	struct unwind_user_frame frame = by_sp;

	begin();
	expect("a step by the stack pointer", 1, STACK + 16, FP);

	begin();
	stack[(FP - STACK) / 8] = 7;
	store(LIBRARY, &by_fp);
	expect("a step by a row with the frame pointer", 1, FP + 16, 7);

	begin();
	frame.kind = UNWIND_USER_FRAME_RULES;
	store(LIBRARY, &frame);
	refused("rules of another kind");

	begin();
	state.ip++;
	sections = 0;
	expect("an address that is not in the cache", 0, STACK, FP);
	if (sections)
		finding("an access section for no step");
}

static void beside_windows(void)
{
	begin();
	store(LIBRARY, &sframe_fp_frame);
}

static void set_word(unsigned long addr, unsigned long word)
{
	stack[(addr - STACK) / sizeof(*stack)] = word;
}

/* From a frame at FP, by what programs have where no section is. */
static void expect_fallback(const char *what)
{
	is_fallback = true;
	state.sp = FP;
	state.sframe.deadline = 1;
	if (MACHINE_BY_FP) {
		expect(what, 1, FP + 16, LIBRARY + 0x100);
		if (state.sp_bound == MACHINE_FP_GIVES_SP)
			finding("a stack pointer that is none, or a bound");
	} else {
		set_word(FP, FP + 16);
		expect(what, 1, FP + 16, UNWIND_USER_NO_FP);
	}
	if (!state.sframe.stopped)
		finding("the time of a step beside all windows counts");
	is_fallback = false;
}

/* Steps of one kind: those by rows count, and so does their time. */
static void try_kinds(void)
{
	begin();
	store(LIBRARY + 0x100, &sframe_fp_frame);
	state.ip = LIBRARY;
	state.sframe.deadline = 100;
	state.sframe.stopped = clock - 7;
	expect("a step by a row before one that is not", 1, STACK + 16, FP);
	if (state.sframe.deadline != 108 || state.sframe.stopped)
		finding("the deadline does not move on");
}

static void try_fallback(void)
{
	beside_windows();
	expect_fallback("a step by what is there without windows");

	beside_windows();
	state.sp = FP + 8;
	refused("a frame pointer below the stack pointer, or no chain");
}

/* After a step by frame pointer without a known stack pointer. */
static void try_bound(void)
{
	begin();
	state.sp_bound = true;
	refused("a row that starts from a stack pointer that is not known");

	begin();
	store(LIBRARY, &by_fp);
	state.sp_bound = true;
	expect("a row with the frame pointer", 1, FP + 16, LIBRARY + 0x100);
	if (state.sp_bound)
		finding("a stack pointer that a row tells is a bound");

	begin();
	store(LIBRARY, &by_fp);
	state.sp_bound = true;
	state.sp = FP + 16;
	refused("a frame below the bound");
}

static void try_back_chain(void)
{
	beside_windows();
	set_word(STACK, STACK);
	refused("a back chain that does not move up");

	beside_windows();
	set_word(STACK, FP + 4);
	refused("a back chain that is not aligned");

	beside_windows();
	set_word(STACK, FP);
	set_word(FP + 14 * 8, LIBRARY + 0x101);
	refused("an odd return address");

	beside_windows();
	state.sp = STACK + sizeof(stack);
	refused("a back chain that is not there");

	begin();
	store(LIBRARY, &by_fp);
	state.fp = UNWIND_USER_NO_FP;
	refused("a row with a frame pointer that is not known");
}

static void try_bad_stacks(void)
{
	struct unwind_user_frame frame = by_fp;

	begin();
	frame.cfa.off = CFA((int)(STACK - FP));
	store(LIBRARY, &frame);
	refused("a CFA that does not move up");

	begin();
	state.fp = FP + 4;
	store(LIBRARY, &by_fp);
	refused("a CFA that is not aligned");

	begin();
	state.sp = STACK + 0x2000;
	store(LIBRARY, &by_fp);
	refused("a frame on another stack, whose call has to be looked at");

	begin();
	stack[1] = SZ_64K - 1;
	refused("a return address below all text");

	begin();
	state.sp = STACK + sizeof(stack) - 8;
	refused("a return address that is not there");

	begin();
	state.fp = STACK + sizeof(stack) - 8;
	frame = by_fp;
	frame.ra.off = by_fp.fp.off;
	frame.fp.off = by_fp.ra.off;
	store(LIBRARY, &frame);
	refused("a frame pointer that is not there");
}

static void in_window(unsigned long ip)
{
	begin();
	small.window.rows[0].frame = by_sp;
	state.ip = ip;
	state.sframe.window = &small.window;
	state.sframe.first = TEXT;
	state.sframe.length = WINDOW_SIZE;
}

static void try_ranges(void)
{
	in_window(TEXT + FUNC_SIZE);
	expect("a step in a small window", 1, STACK + 16, FP);
	in_window(TEXT + FUNC_SIZE + 1);
	refused("an address behind the function of a small window");

	in_window(TEXT + 1);
	state.sframe.window = NULL;
	expect_fallback("a step beside all windows");
	in_window(TEXT + 1);
	state.sp = FP + 8;
	state.sframe.window = NULL;
	state.ip = LIBRARY;
	state.sframe.first = LIBRARY - 1;
	refused("the same of a range beside all windows");

	/* What was looked up before a change, and what is of a section. */
	in_window(LIBRARY);
	state.sframe.first = LIBRARY - 1;
	state.sframe.seq--;
	expect("the cache, not an old range", 1, STACK + 16, FP);
	in_window(LIBRARY);
	state.sframe.first = LIBRARY - 1;
	state.sframe.window->nr_rows = 0;
	expect("the cache, not the range of a section", 1, STACK + 16, FP);
	small.window.nr_rows = 1;
}

static void try_states(void)
{
	struct return_instance *probe = (void *)1;

	begin();
	state.exact_ip = true;
	refused("an interrupted instruction");

	begin();
	state.ri = probe;
	refused("a task with return probes");

	begin();
	registry.seq++;
	refused("rules of before a change");

	begin();
	sframe_walk_detach(&state);
	refused("a walk without a cache");

	begin();
	state.sframe.slack = SFRAME_STACK_READS - 1;
	expect("a step behind a look at the clock", 1, STACK + 16, FP);
	begin();
	state.sframe.slack = 0;
	time_is_over = true;
	refused("a step when the time is over");
	if (state.sframe.slack)
		finding("the next step does not look at the clock");
}

/* A stack of frames that are all alike. */
static void try_many(void)
{
	begin();
	state.ip = LIBRARY + 0x100;
	store(LIBRARY + 0x100, &by_sp);
	expect("as many steps as may be", SFRAME_KNOWN_STEPS,
	       STACK + 16 * SFRAME_KNOWN_STEPS, FP);

	begin();
	state.ip = LIBRARY + 0x100;
	store(LIBRARY + 0x100, &by_sp);
	if (sframe_steps_known(&state, ips, 3) != 3 ||
	    state.sp != STACK + 3 * 16)
		finding("more steps than there is space for");
	if (sframe_steps_known(&state, ips, 0))
		finding("a step for which there is no space");
}

int main(void)
{
	if (sframe_cache_init())
		finding("no memory for the cache");
	try_cached();
	try_fallback();
	try_kinds();
	if (!MACHINE_FP_GIVES_SP)
		try_bound();
	if (!MACHINE_BY_FP)
		try_back_chain();
	try_bad_stacks();
	try_ranges();
	try_states();
	try_many();
	printf("%u steps tried: no finding\n", tried);
	return 0;
}
