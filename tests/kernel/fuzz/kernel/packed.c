// SPDX-License-Identifier: MIT
// SPDX-FileCopyrightText: 2026 The sfjit authors
/*
 * usage: kernel-packed
 *
 * Steps through packed tables, and several at once, also where no window is: why
 * rules are refused, and which steps are left to the ordinary step.
 */
#include <linux/sframe.h>

#include "sframe_packed.h"
#include "sframe_packed_format.h"
#include "sframe_step.h"
#include "alone.h"
#include "machine.h"

int printf(const char *format, ...);

#define TEXT		0x10000000UL
#define UNIT		(1UL << MACHINE_UNIT_SHIFT)
#define BUCKET		(256 * UNIT)
#define STACK		0x30000000UL
#define STACK_WORDS	128
#define FP		(STACK + 0x100)
#define TABLE		0x20000000UL
#define FILE_BIAS	0x05000000UL

/* Words of a frame, from the caller's stack pointer. */
#define CFA(off)	((off) + MACHINE_SAVED)
#define SAVED(off)	((off) - MACHINE_SAVED)

bool shim_has_mask = true;
struct task_struct shim_task;

enum { UNKNOWN, BY_SP, BY_FP, POINTER, OTHER, AFTER, NR_RULES };

static struct {
	struct sframe_packed_header header;
	struct sframe_packed_rule rules[NR_RULES];
	u32 index[4];
	u8 blocks[2048];
	u8 pad[SFRAME_PACKED_PAD];
} table;

static unsigned long stack[STACK_WORDS];
static struct sframe_registry registry;
u64 sframe_files_seq;
static struct sframe_window window = { .format = SFRAME_FORMAT_PACKED };
static struct sframe_window other_window = { .format = SFRAME_FORMAT_PACKED };
static struct sframe_kept_range found;	/* by each look-up */
static struct unwind_user_state state;
static unsigned long ips[SFRAME_STEPS + 1];
static unsigned int tried, reads, sections, looks, finds;
static unsigned int bounded;	/* addresses that no CPU runs ahead with */
static unsigned int change_at;	/* registers a window at this read, or 0 */
static unsigned int miss_at;	/* the page of this read is not there, or 0 */
static bool time_is_over, open;
static bool copied;		/* the table is that of a file */
static long ra_off;		/* of a return address, from the caller's sp */
static u64 clock;

/* Functions of the kernel that steps call. */

u64 local_clock(void)
{
	return ++clock;
}

enum sframe_reason sframe_look(struct sframe_walk *walk)
{
	looks++;
	walk->slack = SFRAME_INTERVAL;
	return time_is_over ? SFRAME_REASON_DEADLINE : SFRAME_REASON_NONE;
}

void sframe_find_window(struct sframe_walk *walk, unsigned long ip)
{
	if (open)
		finding("a window is looked up while user access is open");
	finds++;
	walk->seq = registry.seq;
	walk->files_seq = sframe_files_seq;
	walk->window = found.window;
	walk->first = found.first;
	walk->length = found.length;
	walk->bias = found.bias;
}

int sframe_check_range(unsigned long addr, unsigned long len,
		       unsigned long least)
{
	return len < least ? -EINVAL : 0;
}

static int load(void *dst, unsigned long addr, unsigned long size)
{
	if (addr - TABLE <= sizeof(table) - size)
		memcpy(dst, (char *)&table + (addr - TABLE), size);
	else if (addr - STACK <= sizeof(stack) - size)
		memcpy(dst, (char *)stack + (addr - STACK), size);
	else
		return -EFAULT;
	return 0;
}

unsigned long copy_from_user(void *dst, const void *src, unsigned long size)
{
	return load(dst, (unsigned long)src, size) ? size : 0;
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
	bounded++;
	return index;
}

int shim_unsafe_load(void *dst, unsigned long addr, unsigned int size)
{
	if (!open)
		finding("user memory is read without being opened");
	reads++;
	if (reads == change_at)
		registry.seq++;
	if (reads == miss_at)
		return -EFAULT;
	return load(dst, addr, size);
}

/* The table: four buckets, the second one with a block. */

static void make_table(void)
{
	static const u8 block[] = { 2, 16, 32, BY_SP, BY_FP, OTHER };

	memset(&table, 0, sizeof(table));
	table.header = (struct sframe_packed_header) {
		.magic = SFRAME_PACKED_MAGIC, .version = SFRAME_PACKED_VERSION,
		.abi_arch = MACHINE_ABI, .unit_shift = MACHINE_UNIT_SHIFT,
		.nr_rules = NR_RULES, .text_start = TEXT - 0x1000,
		.text_length = 4 * BUCKET, .blocks_len = sizeof(table.blocks),
	};
	table.rules[BY_SP] = (struct sframe_packed_rule) {
		.kind = SFRAME_PACKED_PLAIN,
		.cfa_off = CFA(16), .ra_off = SAVED(-8),
	};
	table.rules[BY_FP] = (struct sframe_packed_rule) {
		.kind = SFRAME_PACKED_PLAIN | SFRAME_PACKED_FROM_FP |
			SFRAME_PACKED_FP_SAVED,
		.cfa_off = CFA(16), .ra_off = SAVED(-8), .fp_off = SAVED(-16),
	};
	table.rules[POINTER].kind = SFRAME_PACKED_FP;
	table.index[0] = BY_SP;
	table.index[1] = SFRAME_PACKED_BLOCK;
	table.index[2] = OTHER;
	memcpy(table.blocks, block, sizeof(block));
}

static void set_word(unsigned long addr, unsigned long word)
{
	stack[(addr - STACK) / sizeof(*stack)] = word;
}

static unsigned long word_at(unsigned long addr)
{
	return stack[(addr - STACK) / sizeof(*stack)];
}

/* The kernel charges this for a step, and one more for each further word. */
static unsigned int cost(void)
{
	return copied ? 2 : 5;
}

static void set_table(struct sframe_window *to)
{
	if (copied ? sframe_check_copy(&to->packed, &table, sizeof(table),
				       0x1000 - FILE_BIAS) :
		     sframe_read_packed_header(&to->packed, TABLE,
					       sizeof(table), 0x1000))
		finding("a good table is refused");
	to->copied = copied;
}

/* A frame at @unit of a bucket; callers by each rule are in bucket 3. */
static void begin(unsigned int bucket, unsigned int unit)
{
	unsigned int i;

	set_table(&window);
	for (i = 0; i < STACK_WORDS; i++)
		stack[i] = TEXT + 3 * BUCKET + UNIT;
	change_at = miss_at = reads = sections = looks = finds = bounded = 0;
	found = (struct sframe_kept_range) {
		.window = &window, .first = TEXT, .length = 4 * BUCKET,
		.bias = FILE_BIAS,
	};
	time_is_over = false;
	ra_off = -8;
	window.format = SFRAME_FORMAT_PACKED;
	state = (struct unwind_user_state) {
		.ip = TEXT + bucket * BUCKET + (unit + 1) * UNIT, .sp = STACK,
		.fp = FP, .ws = 8,
		.sframe = {
			.reg = &registry, .seq = registry.seq,
			.files_seq = sframe_files_seq,
			.window = &window, .first = TEXT, .length = 4 * BUCKET,
			.bias = FILE_BIAS, .slack = SFRAME_INTERVAL,
		},
	};
}

/* The same where no window is; the caller's range is another one. */
static void begin_beside(void)
{
	begin(0, 0);
	found.window = state.sframe.window = NULL;
	found.length = state.sframe.length = 3 * BUCKET;
	state.sframe.deadline = 1;
	ra_off = MACHINE_BY_FP ? -8 : 14 * 8;
}

/* Steps, several at once. */

static void expect(const char *what, unsigned int nr, unsigned long sp,
		   unsigned long fp)
{
	const struct unwind_user_state before = state;

	tried++;
	if (sframe_steps(&state, ips, SFRAME_STEPS + 1) != nr)
		finding(what);
	if (open)
		finding("user access is left open");
	if (state.sp != sp || state.fp != fp)
		finding(what);
	if (state.ip != (nr ? ips[nr - 1] : before.ip) ||
	    (!nr && state.third != before.third))
		finding("a step that was not made has changed the state");
	if (nr && state.ip != word_at(sp + ra_off))
		finding("another caller");
	if (before.sframe.window == &window && copied && nr && !bounded)
		finding("a CPU may run ahead of the bound of an address");
	if (state.topmost != before.topmost || state.exact_ip != before.exact_ip)
		finding("steps between frames of calls change their kind");
}

static void left(const char *what)
{
	expect(what, 0, state.sp, state.fp);
}

/* Nothing is even tried. */
static void passed_by(const char *what)
{
	left(what);
	if (sections || finds || state.sframe.stopped ||
	    state.sframe.slack != SFRAME_INTERVAL)
		finding("something is done for no step");
}

static void try_steps(void)
{
	make_table();
	begin(0, 0);
	expect("a step by the stack pointer", 1, STACK + 16, FP);
	if (sections != 1)
		finding("a step takes more than one access section");

	begin(1, 15);
	expect("a rule before the first change", 1, STACK + 16, FP);
	begin(1, 16);
	stack[(FP - STACK) / 8] = 7;
	expect("a rule from the first change on", 1, FP + 16, 7);
	begin(1, 31);
	stack[(FP - STACK) / 8] = 7;
	expect("a rule up to the second change", 1, FP + 16, 7);

	table.rules[OTHER] = table.rules[BY_SP];
	table.rules[OTHER].cfa_off = CFA(32);
	begin(1, 40);
	expect("a rule after the last change", 1, STACK + 32, FP);

	begin(0, 0);
	stack[1] = TEXT + UNIT;
	stack[3] = TEXT + UNIT;
	expect("three steps", 3, STACK + 48, FP);
	if (sections != 1)
		finding("three steps take more than one access section");
	begin(0, 0);
	stack[1] = TEXT + 4 * BUCKET + UNIT;
	expect("a caller outside of the table", 1, STACK + 16, FP);
	begin(0, 0);
	state.sframe.length = BUCKET;
	stack[1] = TEXT + BUCKET + UNIT;
	expect("a caller outside of the window", 1, STACK + 16, FP);
}

/* The steps are those up to the next look at the clock. */
static void try_slack(void)
{
	const unsigned int nr = min(SFRAME_INTERVAL / cost(), SFRAME_STEPS);
	unsigned int i;

	make_table();
	begin(0, 0);
	for (i = 0; i < STACK_WORDS; i++)
		stack[i] = TEXT + UNIT;
	expect("steps up to the clock", nr, STACK + nr * 16, FP);
	if (state.sframe.slack != (int)(SFRAME_INTERVAL - nr * cost()))
		finding("steps are not paid for");
	if (looks)
		finding("the clock is looked at without need");

	begin(0, 0);
	for (i = 0; i < STACK_WORDS; i++)
		stack[i] = TEXT + UNIT;
	ips[2] = 0;
	tried++;
	if (sframe_steps(&state, ips, 2) != 2 || ips[2] ||
	    state.sp != STACK + 32)
		finding("more steps than there is room for");
	sections = 0;
	if (sframe_steps(&state, ips, 0) || sections)
		finding("a step for which there is no room");

	table.index[1] = SFRAME_PACKED_BLOCK;
	table.blocks[0] = 80;
	for (i = 1; i <= 80; i++)
		table.blocks[i] = i;
	table.blocks[81] = BY_SP;
	table.blocks[81 + 80] = BY_SP;
	begin(1, 0);
	expect("a step before the changes of a long block", 1, STACK + 16, FP);
	if (state.sframe.slack != (int)(SFRAME_INTERVAL - 2 * cost()))
		finding("what is not read of a block is paid for");
	begin(1, 80);
	expect("a step after the changes of a long block", 1, STACK + 16, FP);
	if (state.sframe.slack != (int)(SFRAME_INTERVAL - 2 * cost() -
					(copied ? 0 : 10)))
		finding("a long block costs what a short one does, or a copy");

	begin(0, 0);
	state.sframe.slack = 4;
	expect("a step after a look at the clock", 1, STACK + 16, FP);
	if (state.sframe.slack != (int)(SFRAME_INTERVAL - 2 * cost()))
		finding("steps after a look are not paid for, or one that fails");

	begin(0, 0);
	state.sframe.slack = 4;
	time_is_over = true;
	expect("a step after the deadline", 0, STACK, FP);
	if (state.sframe.slack || sections)
		finding("the next step will not look at the clock");
}

/* A step through a table counts, and so does its time. */
static void try_clock(void)
{
	make_table();
	begin(0, 0);
	state.sframe.deadline = 100;
	state.sframe.stopped = clock - 7;
	expect("a step when the clock has stopped", 1, STACK + 16, FP);
	if (state.sframe.deadline != 108 || state.sframe.stopped)
		finding("the deadline does not move on");
}

/* What the ordinary step is for. */
static void try_left(void)
{
	make_table();
	table.rules[OTHER] = (struct sframe_packed_rule) {
		.kind = SFRAME_PACKED_RULES,
		.cfa = SFRAME_PACKED_REG | MACHINE_SP, .cfa_off = CFA(16),
		.ra = SFRAME_PACKED_CFA | SFRAME_PACKED_LOAD,
		.ra_off = SAVED(-8),
	};
	begin(2, 0);
	left("rules of three places");
	table.rules[OTHER] = table.rules[BY_SP];
	table.rules[OTHER].kind |= SFRAME_PACKED_EXACT;
	begin(2, 0);
	left("a caller whose address is exact");

	table.rules[OTHER].kind = SFRAME_PACKED_PLAIN | SFRAME_PACKED_MANGLED_RA;
	begin(2, 0);
	if (MACHINE_SIGNS)
		expect("a signed address", 1, STACK + 16, FP);
	else
		left("a signed address");

	table.rules[OTHER].kind = SFRAME_PACKED_OUTERMOST;
	begin(2, 0);
	left("the end of the stack");
	table.rules[OTHER].kind = SFRAME_PACKED_SIGNAL;
	begin(2, 0);
	left("a signal frame");
	begin(3, 0);
	left("a rule that is not known");

	begin(0, 0);
	stack[1] = 0;
	left("a return address 0");
	for (miss_at = 1; miss_at <= 4; miss_at++) {
		unsigned int miss = miss_at;

		begin(0, 0);
		miss_at = miss;
		left("a page that is not there");
	}
}

/* Nothing that opens an access section. */
static void try_passed_by(void)
{
	bool beside;

	make_table();
	for (beside = false; ; beside = true) {
		beside ? begin_beside() : begin(0, 0);
		state.exact_ip = true;
		passed_by("an exact address");
		beside ? begin_beside() : begin(0, 0);
		state.ri = (void *)&table;
		passed_by("a return probe");
		if (beside)
			break;
	}
	begin(0, 0);
	window.format = SFRAME_FORMAT_V3;
	passed_by("a window with a section");
}

/* Ends of a range: of the table, or beside all windows. */
static void try_ranges(void)
{
	make_table();
	table.index[3] = BY_SP;
	begin(3, 255);
	stack[1] = TEXT + 4 * BUCKET + UNIT;
	expect("a call at the end of a range", 1, STACK + 16, FP);
	make_table();
	begin(1, 16);
	state.sframe.first += BUCKET;
	state.sframe.length -= BUCKET;
	stack[(FP - STACK) / 8] = 7;
	expect("a window that begins after the code of its table", 1, FP + 16, 7);
	begin(1, 16);
	state.sframe.first -= BUCKET;
	state.sframe.length += BUCKET;
	stack[(FP - STACK) / 8] = 7;
	expect("a window that begins before it", 1, FP + 16, 7);
	begin(0, 0);
	state.sframe.first -= BUCKET;
	state.sframe.length = 2 * BUCKET;
	stack[1] = TEXT + BUCKET + UNIT;
	expect("a window that ends before it", 1, STACK + 16, FP);
	begin(0, 0);
	state.sframe.first -= BUCKET;
	state.sframe.length += BUCKET;
	state.ip = TEXT;
	left("a call in a window, before the code of its table");
	begin(0, 0);
	state.sframe.length = TASK_SIZE_MAX - TEXT - 1;
	stack[1] = TEXT + 5 * BUCKET;
	expect("a caller after the code of its table", 1, STACK + 16, FP);

	begin(0, 0);
	state.sframe.first = mmap_min_addr;
	state.sframe.length = TEXT + BUCKET - mmap_min_addr;
	expect("a window from the lowest address on", 1, STACK + 16, FP);
	begin(0, 0);
	state.sframe.first = mmap_min_addr - 1;
	state.sframe.length = TEXT + BUCKET - mmap_min_addr + 1;
	left("a window with addresses that nothing is mapped at");
	begin(0, 0);
	state.sframe.length = TASK_SIZE_MAX - TEXT;
	left("a window up to the end of user memory");

	table.header.text_length = 2 * BUCKET;
	table.index[1] = BY_SP;
	begin(2, 0);
	left("a call in a window, after the code of its table");
}

/* Rules that repeat have an index of one bucket, and blocks after it. */
static void try_repeat(void)
{
	static const u8 block[] = { 1, 8, BY_SP, OTHER };
	struct unwind_user_caller caller;
	unsigned int unit;

	make_table();
	table.header.repeat = 16 * UNIT;
	table.rules[OTHER] = table.rules[BY_SP];
	table.rules[OTHER].cfa_off = CFA(32);
	table.index[0] = SFRAME_PACKED_BLOCK;
	memcpy(&table.index[1], block, sizeof(block));
	for (unit = 0; unit < 4 * 256; unit++) {
		begin(0, unit);
		tried++;
		if (sframe_read_packed(&state, &window, TEXT + unit * UNIT,
				       &caller) ||
		    caller.sp != STACK + (unit % 16 < 8 ? 16 : 32))
			finding("a rule that repeats");
		begin(0, unit);
		stack[1] = stack[3] = TEXT + 4 * BUCKET + UNIT;
		if (copied)
			left("a rule that repeats, of a file");
		else
			expect("a step by a rule that repeats", 1,
			       STACK + (unit % 16 < 8 ? 16 : 32), FP);
	}
}

/* From a frame at FP, by what programs have where no section is. */
static void expect_beside(const char *what, unsigned int nr)
{
	unsigned long sp = FP + 16, fp = TEXT + 3 * BUCKET + UNIT;

	state.sp = FP;
	if (!MACHINE_BY_FP) {
		set_word(FP, sp);
		fp = UNWIND_USER_NO_FP;
	}
	expect(what, nr, nr ? sp : FP, nr ? fp : FP);
	if (nr && MACHINE_BY_FP && state.sp_bound == MACHINE_FP_GIVES_SP)
		finding("a stack pointer that is none, or a bound");
	if (!state.sframe.stopped || state.sframe.slack != SFRAME_INTERVAL ||
	    sections != 1)
		finding("a step beside all windows counts");
}

/* A range is looked up once, before anything is read. */
static void expect_found(const char *what)
{
	expect(what, 1, STACK + 16, FP);
	if (finds != 1 || sections != 1)
		finding("a range is looked up too often, or too late");
}

static void try_found(void)
{
	make_table();
	begin(0, 0);
	expect("a step in the range of the walk", 1, STACK + 16, FP);
	if (finds)
		finding("a range is looked up that is known");
	begin(0, 0);
	state.sframe.seq--;
	expect_found("a step in what was looked up before a change");
	begin(0, 0);
	state.sframe.length = 0;
	expect_found("a step after the range of the walk");
	begin(0, 0);
	state.sframe.first += BUCKET;
	expect_found("a step before the range of the walk");

	begin_beside();
	state.sframe.length = 0;
	expect_beside("a step where no window is found", 1);
	if (finds != 1)
		finding("a range is looked up too often");

	begin(0, 0);
	state.sframe.length = 0;
	found.window = &other_window;
	other_window.format = SFRAME_FORMAT_V3;
	left("a window with a section, which is found");
	if (sections)
		finding("a section is read");
	other_window.format = SFRAME_FORMAT_PACKED;
}

/* Frames in two ranges by turns; the walk is in the first. */
static void begin_two(struct sframe_window *there, unsigned int keep)
{
	begin(0, 0);
	set_table(&other_window);
	state.sframe.length = BUCKET;
	state.sframe.kept[keep] = (struct sframe_kept_range) {
		.window = there, .first = TEXT + BUCKET, .length = 3 * BUCKET,
		.bias = FILE_BIAS,
	};
	stack[1] = stack[5] = TEXT + BUCKET + UNIT;
	stack[3] = TEXT + UNIT;
}

static void is_in(const struct sframe_window *expected, unsigned long first)
{
	if (state.sframe.window != expected || state.sframe.first != first)
		finding("the walk is in another range");
	if (sections != 1 || finds)
		finding("steps in ranges that are kept are not made at once");
}

static void try_two(void)
{
	unsigned int i;

	make_table();
	for (i = 0; i < SFRAME_KEPT_RANGES; i++) {
		begin_two(&other_window, i);
		expect("steps in two ranges", 4, STACK + 64, FP);
		is_in(&other_window, TEXT + BUCKET);
	}
	begin_two(NULL, 0);
	expect("a step to where no window is", 1, STACK + 16, FP);
	is_in(NULL, TEXT + BUCKET);
	begin_two(&other_window, 0);
	other_window.format = SFRAME_FORMAT_V3;
	expect("a step to a window with a section", 1, STACK + 16, FP);
	is_in(&other_window, TEXT + BUCKET);
	other_window.format = SFRAME_FORMAT_PACKED;
	begin_two(&other_window, 0);
	other_window.copied = !copied;
	expect("a step to a table of another kind", 1, STACK + 16, FP);
	is_in(&other_window, TEXT + BUCKET);
	begin_two(&other_window, 0);
	state.sframe.slack = 2 * cost() - 1;
	if (copied)
		state.sframe.slack = 5;
	if (copied) {
		expect("two steps that are paid for", 2, STACK + 32, FP);
		is_in(&window, TEXT);
	} else {
		expect("the step that is paid for", 1, STACK + 16, FP);
		is_in(&other_window, TEXT + BUCKET);
	}

	begin_two(&other_window, 0);
	tried++;
	if (sframe_steps(&state, ips, 1) != 1 || state.sp != STACK + 16)
		finding("more steps in two ranges than there is room for");
	begin_two(&other_window, 0);
	change_at = copied ? 3 : 8;
	left("steps in two ranges that have changed");
}

/* Ranges that the walk has looked up and keeps. */
static void try_kept(void)
{
	const struct sframe_kept_range here = {
		.window = &window, .first = TEXT, .length = 3 * BUCKET,
		.bias = FILE_BIAS,
	};
	struct sframe_walk *walk = &state.sframe;
	unsigned int i;

	make_table();
	for (i = 0; i < SFRAME_KEPT_RANGES; i++) {
		begin(0, 0);
		walk->window = NULL;
		walk->bias = 0;
		walk->first = TEXT + 8 * BUCKET;
		walk->length = BUCKET;
		walk->kept[i] = here;
		expect("a step in a range that was kept", 1, STACK + 16, FP);
		if (walk->window != &window || walk->first != TEXT ||
		    walk->length != 3 * BUCKET || walk->kept[i].window ||
		    walk->kept[i].first != TEXT + 8 * BUCKET ||
		    walk->kept[i].length != BUCKET || walk->kept[i].bias ||
		    walk->bias != FILE_BIAS)
			finding("the walk is in another range, or lost one");
	}
	begin(0, 0);
	walk->length = 0;
	walk->kept[0] = here;
	registry.seq++;
	expect_found("a range that was kept before a change");
	begin(0, 0);
	sframe_files_seq++;
	expect_found("a range from before a file lost its table");
}

/* After a step by frame pointer without a known stack pointer. */
static void try_bound(void)
{
	make_table();
	table.index[2] = BY_FP;
	begin(0, 0);
	state.sp_bound = true;
	left("a rule that starts from a stack pointer that is not known");

	begin(2, 0);
	state.sp_bound = true;
	expect("a rule with the frame pointer", 1, FP + 16,
	       TEXT + 3 * BUCKET + UNIT);
	if (state.sp_bound)
		finding("a stack pointer that a rule tells is a bound");

	begin(2, 0);
	state.sp_bound = true;
	state.sp = FP + 16;
	left("a frame below the bound");
}

static void try_bad_stacks(void)
{
	make_table();
	table.rules[OTHER] = table.rules[BY_FP];
	table.rules[OTHER].cfa_off = CFA((int)(STACK - FP));
	begin(2, 0);
	left("a CFA that does not move up");

	table.index[2] = BY_FP;
	begin(2, 0);
	state.fp = FP + 4;
	left("a CFA that is not aligned");
	begin(2, 0);
	state.sp = STACK + 0x2000;
	left("a frame on another stack, whose call has to be looked at");
	begin(2, 0);
	state.fp = STACK + sizeof(stack) - 8;
	left("a return address that is not there");

	begin(0, 0);
	stack[1] = SZ_64K - 1;
	left("a return address below all text");

	table.rules[BY_FP].ra_off = SAVED(-16);
	table.rules[BY_FP].fp_off = SAVED(-8);
	begin(2, 0);
	state.fp = STACK + sizeof(stack) - 8;
	left("a frame pointer that is not there");
}

static void try_beside(void)
{
	make_table();
	begin_beside();
	expect_beside("a step by what is there without windows", 1);

	/* Time does not end these, and what is there now is left to others. */
	begin_beside();
	time_is_over = true;
	expect_beside("the same after the deadline", 1);
	begin_beside();
	change_at = 1;
	expect_beside("the same while windows change", 1);

	begin_beside();
	state.sp = FP + 8;
	left("a frame pointer below the stack pointer, or no chain");
	begin_beside();
	state.sp = STACK + 0x2000;
	left("a frame on another stack");
	begin_beside();
	set_word(FP + 16 + ra_off, SZ_64K - 1);
	expect_beside("a return address below all text", 0);
	begin_beside();
	miss_at = 1;
	expect_beside("a page that is not there", 0);
}

static void try_back_chain(void)
{
	make_table();
	begin_beside();
	set_word(STACK, STACK);
	left("a back chain that does not move up");

	begin_beside();
	set_word(STACK, FP + 4);
	left("a back chain that is not aligned");

	begin_beside();
	set_word(STACK, FP);
	set_word(FP + 14 * 8, word_at(FP + 14 * 8) + 1);
	left("an odd return address");

	begin_beside();
	state.sp = STACK + sizeof(stack);
	left("a back chain that is not there");

	table.index[2] = BY_FP;
	begin(2, 0);
	state.fp = UNWIND_USER_NO_FP;
	left("a rule with a frame pointer that is not known");
}

#define FRAME_SIZE	(MACHINE_BY_FP ? 16 : 24)

/* A stack of frames that are all alike, without a window. */
static void begin_many(void)
{
	const unsigned long end = STACK + SFRAME_STEPS * FRAME_SIZE;
	unsigned long sp;

	begin_beside();
	state.sframe.length = 4 * BUCKET;
	for (sp = STACK; sp <= end; sp += FRAME_SIZE)
		set_word(sp, sp + FRAME_SIZE);
	state.fp = STACK;
}

static void expect_many(const char *what, unsigned int nr)
{
	const unsigned long end = STACK + nr * FRAME_SIZE;

	expect(what, nr, end, MACHINE_BY_FP ? end : UNWIND_USER_NO_FP);
}

/* By turns in two ranges without a window. */
static void try_two_beside(void)
{
	unsigned long sp;
	bool even = false;

	begin_many();
	state.sframe.length = BUCKET;
	state.sframe.kept[1] = (struct sframe_kept_range) {
		.first = TEXT + BUCKET, .length = 3 * BUCKET,
	};
	for (sp = STACK + FRAME_SIZE; sp - STACK < 4 * FRAME_SIZE;
	     sp += FRAME_SIZE, even = !even)
		set_word(sp + ra_off, TEXT + UNIT + (even ? 0 : 3 * BUCKET));
	expect_many("steps in two ranges without a window", SFRAME_STEPS);
	if (sections != 1 || finds)
		finding("ranges that are kept are looked up");

	begin_many();
	state.sframe.length = BUCKET;
	state.sframe.kept[1] = (struct sframe_kept_range) {
		.window = &other_window,
		.first = TEXT + BUCKET, .length = 3 * BUCKET,
	};
	expect_many("a step into a window", 1);
	is_in(&other_window, TEXT + BUCKET);
}

static void try_many(void)
{
	begin_many();
	expect_many("as many steps as may be", SFRAME_STEPS);
	if (sections != 1)
		finding("steps take more than one access section");

	state.sp = state.fp = STACK;
	ips[3] = 0;
	if (sframe_steps(&state, ips, 3) != 3 || ips[3] ||
	    state.sp != STACK + 3 * FRAME_SIZE)
		finding("more steps than there is room for");
	sections = 0;
	if (sframe_steps(&state, ips, 0) || sections)
		finding("a step for which there is no room");
}

/* By a rule of a table, from a frame at FP. */
static void try_pointer(void)
{
	make_table();
	table.index[2] = POINTER;
	begin(2, 0);
	state.sp = FP;
	if (MACHINE_BY_FP) {
		expect("a step by frame pointer", 1, FP + 16, stack[0]);
		if (state.sp_bound == MACHINE_FP_GIVES_SP)
			finding("a stack pointer that is none, or a bound");
		return;
	}
	set_word(FP, FP + 16);
	ra_off = 14 * 8;
	expect("a step by back chain", 1, FP + 16, UNWIND_USER_NO_FP);
}

static void expect_third(const char *what, unsigned int bucket,
			 unsigned long third)
{
	begin(bucket, 0);
	state.third = STACK + 0x40;
	if (MACHINE_THIRD == ~0u)
		third = 0;
	tried++;
	if (sframe_steps(&state, ips, 1) != 1 || state.third != third)
		finding(what);
}

/* Where the third register is after a step. */
static void try_third(void)
{
	make_table();
	expect_third("a rule that does not tell", 0, 0);
	table.rules[BY_SP].third = 1;
	expect_third("a rule that keeps it", 0, STACK + 0x40);
	table.rules[BY_SP].third = 2;
	expect_third("stored next to the return address", 0, STACK);
	table.rules[OTHER] = table.rules[BY_SP];
	table.rules[OTHER].cfa_off = CFA(0x200);
	table.rules[OTHER].ra_off = SAVED(-0x1f8);
	table.rules[OTHER].third = 255;
	expect_third("stored as far as a rule can tell", 2,
		     STACK + 0x200 - 255 * 8);

	table.index[2] = BY_FP;
	table.rules[BY_FP].third = 3;
	expect_third("stored below a frame pointer", 2, FP - 8);
	if (!MACHINE_BY_FP)
		return;
	table.index[2] = POINTER;
	expect_third("a rule to follow the frame pointer", 2, 0);
	begin_beside();
	state.third = STACK + 0x40;
	expect_beside("a step by frame pointer", 1);
	if (state.third)
		finding("a frame pointer tells another register");
}

/* None of the steps counts if a window has come or gone. */
static void try_changed(void)
{
	unsigned int at;

	make_table();
	for (at = 1; at <= 8; at++) {
		begin(0, 0);
		stack[1] = TEXT + UNIT;
		change_at = at;
		left("a window that has changed");
	}
	/* A step by frame pointer leaves a bound on some machines. */
	table.index[2] = POINTER;
	for (at = 1; MACHINE_BY_FP && at <= 5; at++) {
		begin(2, 0);
		state.fp = state.sp;
		change_at = at;
		if (sframe_steps(&state, ips, SFRAME_STEPS) || state.sp_bound)
			finding("a step that was undone leaves a bound");
	}
}

/* One step: what is refused, and why. */

static void refused_at(unsigned long ip, const char *what,
		       enum sframe_reason reason)
{
	tried++;
	begin(2, 0);
	if (sframe_read_packed(&state, &window, ip, NULL) != reason)
		finding(what);
	if (open)
		finding("user access is left open");
}

static void refused(const char *what, enum sframe_reason reason)
{
	refused_at(TEXT + 2 * BUCKET, what, reason);
}

static struct sframe_packed_rule *other(u8 kind)
{
	make_table();
	table.rules[OTHER] = (struct sframe_packed_rule) {
		.kind = kind, .cfa = SFRAME_PACKED_REG | MACHINE_SP,
		.ra = SFRAME_PACKED_CFA | SFRAME_PACKED_LOAD, .ra_off = -8,
	};
	return &table.rules[OTHER];
}

static void try_kinds(void)
{
	other(SFRAME_PACKED_UNKNOWN);
	refused("nothing is known", SFRAME_REASON_NO_ROW);
	other(SFRAME_PACKED_ADDEND);
	refused("an addend", SFRAME_REASON_ROW_RULE);
	other(7);
	refused("no kind", SFRAME_REASON_ROW_RULE);
	other(SFRAME_PACKED_OUTERMOST | SFRAME_PACKED_EXACT);
	refused("a flag of another kind", SFRAME_REASON_ROW_RULE);
	other(SFRAME_PACKED_RULES | SFRAME_PACKED_FP_SAVED);
	refused("a flag of plain rules", SFRAME_REASON_ROW_RULE);
	other(SFRAME_PACKED_PLAIN | SFRAME_PACKED_KEY_B);
	refused("a key", MACHINE_SIGNS ? SFRAME_REASON_NONE :
					 SFRAME_REASON_ROW_RULE);
	other(SFRAME_PACKED_RULES);
	refused("good rules", SFRAME_REASON_NONE);
}

static void try_places(void)
{
	const u8 rules = SFRAME_PACKED_RULES;

	other(rules)->cfa = SFRAME_PACKED_CFA;
	refused("a CFA from itself", SFRAME_REASON_ROW_RULE);
	other(rules)->cfa = 0;
	refused("a CFA from nothing", SFRAME_REASON_ROW_RULE);
	other(rules)->cfa = SFRAME_PACKED_BASE;
	refused("a CFA from base 3", SFRAME_REASON_ROW_RULE);
	other(rules)->fp = SFRAME_PACKED_BASE;
	refused("a frame pointer from base 3", SFRAME_REASON_ROW_RULE);
	other(rules)->fp = SFRAME_PACKED_LOAD;
	refused("a load from nothing", SFRAME_REASON_ROW_RULE);
	other(rules)->fp = SFRAME_PACKED_CFA | 1;
	refused("a register of the CFA", SFRAME_REASON_ROW_RULE);
	other(rules)->ra = SFRAME_PACKED_CFA;
	refused("an address of the stack", SFRAME_REASON_ROW_RULE);
	other(rules)->ra = 0;
	refused("the link register", MACHINE_RA ? SFRAME_REASON_ROW_RULE :
						  SFRAME_REASON_NONE);
}

static void try_addends(void)
{
	const u8 kind = SFRAME_PACKED_RULES | SFRAME_PACKED_HAS_ADDEND;

	other(kind);
	table.rules[AFTER].kind = SFRAME_PACKED_ADDEND;
	refused("an addend to what is not loaded", SFRAME_REASON_ROW_RULE);
	other(kind)->cfa |= SFRAME_PACKED_LOAD;
	refused("an addend that is not there", SFRAME_REASON_ROW_RULE);
	other(kind)->cfa |= SFRAME_PACKED_LOAD;
	table.rules[AFTER].kind = SFRAME_PACKED_ADDEND;
	table.rules[AFTER].cfa_off = 24;
	refused("an addend", SFRAME_REASON_NONE);
	if (state.sframe.frame.cfa_addend != 24)
		finding("another addend");
	other(kind)->cfa |= SFRAME_PACKED_LOAD;
	table.rules[AFTER] = table.rules[OTHER];
	table.index[2] = AFTER;
	refused("an addend after the last rule", SFRAME_REASON_FRE_OFFSET);
}

static void try_bounds(void)
{
	const u32 last = sizeof(table.blocks) - 1;

	make_table();
	refused_at(TEXT + 4 * BUCKET, "an address after the code",
		   SFRAME_REASON_NO_FDE);
	refused_at(TEXT - 1, "an address before the code",
		   SFRAME_REASON_NO_FDE);
	table.index[2] = NR_RULES;
	refused("no such rule", SFRAME_REASON_FRE_OFFSET);
	table.index[2] = SFRAME_PACKED_BLOCK - 1;
	refused("no rule by far", SFRAME_REASON_FRE_OFFSET);
	table.index[2] = SFRAME_PACKED_BLOCK | sizeof(table.blocks);
	refused("a block after the last one", SFRAME_REASON_FRE_OFFSET);
	table.index[2] = SFRAME_PACKED_BLOCK | (sizeof(table.blocks) + 1);
	refused("a block in the padding", SFRAME_REASON_FRE_OFFSET);
	table.index[2] = SFRAME_PACKED_BLOCK | (last - 2);
	table.blocks[last - 2] = 1;
	table.blocks[last - 1] = 8;
	refused("a block that is one byte too long", SFRAME_REASON_FRE_OFFSET);
	table.index[2] = SFRAME_PACKED_BLOCK | (last - 3);
	table.blocks[last - 3] = 1;
	table.blocks[last - 2] = 8;
	table.blocks[last - 1] = BY_SP;
	refused("the last block there may be", SFRAME_REASON_NONE);
	table.blocks[last - 3] = 2;
	refused("a block with an id after the end", SFRAME_REASON_FRE_OFFSET);
	table.blocks[last - 3] = 1;
	table.index[2] |= SFRAME_PACKED_WIDE;
	refused("a block of wide ids", SFRAME_REASON_FRE_OFFSET);
	make_table();
	table.blocks[0] = 255;
	table.index[2] = SFRAME_PACKED_BLOCK;
	table.blocks[1] = 1;
	table.blocks[256] = NR_RULES;
	refused("an id of no rule", SFRAME_REASON_FRE_OFFSET);
}

/* Tables that are checked as a whole, before they are those of files. */

static int check(void)
{
	struct sframe_packed packed;

	tried++;
	return sframe_check_copy(&packed, &table, sizeof(table), 0);
}

static void is_good(const char *what)
{
	if (check())
		finding(what);
}

static void is_bad(const char *what)
{
	if (check() != -EINVAL)
		finding(what);
	make_table();
}

static void try_bad_blocks(void)
{
	const unsigned int last = sizeof(table.blocks) - 1;
	u8 *block = table.blocks;

	table.index[1] |= sizeof(table.blocks);
	is_bad("a block that begins after the last one");
	table.index[1] |= sizeof(table.blocks) + 1;
	is_bad("a block in the padding");
	block[0] = 255;
	memset(block + 256, BY_SP, 256);
	is_bad("a block whose changes stand still");
	block[1] = 33;
	is_bad("a block whose changes go back");
	block[2] = 16;
	is_bad("a block with a change twice");
	block[3] = NR_RULES;
	is_bad("a block whose first rule there is not");
	block[5] = NR_RULES;
	is_bad("a block whose last rule there is not");
	table.index[1] = SFRAME_PACKED_BLOCK | (last - 1);
	is_good("the last block there may be");
	block[last - 1] = 1;
	is_bad("a block that leaves the blocks");
	table.index[1] |= SFRAME_PACKED_WIDE;
	is_bad("wide ids that are narrow");
	table.index[1] |= SFRAME_PACKED_WIDE;
	memcpy(block + 3, (const u16[]){ BY_SP, BY_FP, OTHER }, 6);
	is_good("a block with wide ids");
	memcpy(block + 7, (const u16[]){ BY_SP + 256 }, 2);
	is_bad("a wide id whose lower byte is a rule");
}

static void try_copies(void)
{
	struct sframe_packed packed;

	make_table();
	is_good("a table");
	if (sframe_check_copy(&packed, &table, sizeof(table.header) - 1, 0) !=
	    -EINVAL)
		finding("a header that is not whole");
	if (sframe_check_copy(&packed, &table, sizeof(table) - 1, 0) != -EINVAL)
		finding("a table without its padding");
	table.header.magic = 0;
	is_bad("another file");
	table.index[3] = NR_RULES;
	is_bad("a bucket whose rule there is not");
	table.index[3] = BY_SP + 0x10000;
	is_bad("a number of 17 bits");
	table.rules[BY_SP].kind = SFRAME_PACKED_ADDEND;
	is_bad("a rule that is none");
	try_bad_blocks();
}

int main(void)
{
	try_steps();
	try_slack();
	try_clock();
	try_left();
	try_passed_by();
	try_ranges();
	try_repeat();
	try_kept();
	try_found();
	try_two();
	if (!MACHINE_FP_GIVES_SP)
		try_bound();
	try_bad_stacks();
	try_beside();
	if (!MACHINE_BY_FP)
		try_back_chain();
	try_many();
	try_two_beside();
	try_pointer();
	try_third();
	try_changed();
	try_kinds();
	try_places();
	try_addends();
	try_bounds();
	try_copies();
	/* The same steps, where they have no bounds. */
	copied = true;
	try_steps();
	try_slack();
	try_clock();
	try_ranges();
	try_repeat();
	try_kept();
	try_two();
	try_many();
	refused_at(TEXT + BUCKET, "a rule of a file", SFRAME_REASON_NONE);
	if (!bounded)
		finding("a CPU may run ahead of the bound of one address");
	refused_at(TEXT + 3 * BUCKET, "no rule of a file", SFRAME_REASON_NO_ROW);
	refused_at(TEXT + 4 * BUCKET, "an address after the text of a file",
		   SFRAME_REASON_NO_FDE);
	printf("%u cases: no finding\n", tried);
	return 0;
}
