// SPDX-License-Identifier: MIT
// SPDX-FileCopyrightText: 2026 The sfjit authors
/*
 * sfjit_check() and sfjit_find_row() against the kernel's decoders: whether a
 * section or packed table is registered, and the rules or the refusal of each
 * address. The input is that of a step; what is not of the table and its text is
 * not looked at.
 */
#include <linux/sframe.h>

#include <sfjit.h>
#include <sfjit/check.h>

#include "input.h"
#include "sframe_packed.h"
#include "alone.h"
#include "no-files.h"

void *malloc(size_t size);
void free(void *memory);

/* Text further away than this is looked at near its ends only. */
#define NEAR	256

bool shim_has_mask = true, shim_compat, shim_function_start;
unsigned long shim_trampoline;
struct task_struct shim_task;
struct pt_regs shim_regs;

/* In the order of enum sframe_reason; the names of /proc/PID/sframe. */
static const char *const names[SFRAME_NR_REASONS] = {
	[SFRAME_REASON_NO_FDE] = "no_fde",
	[SFRAME_REASON_NO_ROW] = "no_row",
	[SFRAME_REASON_FDE_ORDER] = "fde_order",
	[SFRAME_REASON_FDE_RANGE] = "fde_range",
	[SFRAME_REASON_FDE_TYPE] = "fde_type",
	[SFRAME_REASON_FRE_OFFSET] = "fre_offset",
	[SFRAME_REASON_REP_SIZE] = "rep_size",
	[SFRAME_REASON_ROW_ORDER] = "row_order",
	[SFRAME_REASON_ROW_WORDS] = "row_words",
	[SFRAME_REASON_ROW_RULE] = "row_rule",
	[SFRAME_REASON_ROW_REGISTER] = "row_register",
};

/* ---- The kernel around the decoder ------------------------------------ */

static const u8 *section;
static unsigned long length;
static struct sframe_window_opts opts;
static struct sframe_window *window;
static struct sframe_window copy;	/* with the table as a file's, if .copied */

static int load(void *dst, unsigned long addr, unsigned long size)
{
	unsigned long off = addr - (unsigned long)section;

	if (addr - (unsigned long)&opts < sizeof(opts)) {
		memcpy(dst, (const void *)addr, size);
		return 0;
	}
	/* No address but those of the section is formed. */
	if (off >= length || size > length - off)
		finding("the kernel reads outside of the section");
	memcpy(dst, section + off, size);
	return 0;
}

bool shim_access_ok(unsigned long addr, unsigned long size, bool small)
{
	return size <= TASK_SIZE && addr <= TASK_SIZE - size;
}

bool shim_access_begin(unsigned long addr, unsigned long size)
{
	return true;
}

void shim_access_end(void)
{
}

int shim_unsafe_load(void *dst, unsigned long addr, unsigned int size)
{
	return load(dst, addr, size);
}

int shim_get_user(void *dst, unsigned long addr, unsigned int size)
{
	return load(dst, addr, size);
}

unsigned long copy_from_user(void *dst, const void *src, unsigned long size)
{
	load(dst, (unsigned long)src, size);
	return 0;
}

int copy_struct_from_user(void *dst, size_t ksize, const void *src,
			  size_t usize)
{
	return load(dst, (unsigned long)src, usize);
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
	return index < size ? index : 0;
}

int sframe_register(struct sframe_window *new, bool replace)
{
	window = new;
	return 0;
}

int sframe_unregister(unsigned long key)
{
	return -ENOENT;
}

int sframe_window_limit(void)
{
	return 1;
}

struct sframe_window *sframe_window_alloc(const struct sframe_window *draft)
{
	struct sframe_window *new = malloc(sizeof(*new));

	memcpy(new, draft, sizeof(*new));
	return new;
}

void sframe_window_free(struct sframe_window *old)
{
	free(old);
}

/* What only steps and walks use. */
u64 local_clock(void)
{
	return 0;
}

u64 sframe_walk_limit(void)
{
	return 0;
}

struct sframe_range sframe_lookup(struct sframe_registry *reg,
				  unsigned long ip)
{
	finding("a window is looked up");
}

bool __sframe_mm_has_windows(struct mm_struct *mm)
{
	return false;
}

int unwind_user_undo_probe(struct unwind_user_state *state,
			   struct unwind_user_caller *caller, bool ra_copied)
{
	return 0;
}

enum sframe_reason unwind_user_switch(struct unwind_user_state *state,
				      unsigned long fp, unsigned long ra,
				      bool chained)
{
	return SFRAME_REASON_NONE;
}

/* ---- The verdicts ----------------------------------------------------- */

static struct sfjit_table table;

/* A copy is read without the checks of a step, to the same rules. */
static void compare_copy(unsigned long ip, enum sframe_reason want,
			 const struct unwind_user_frame *frame)
{
	struct unwind_user_state state = {
		.topmost = true, .sframe = {
			.slack = SFRAME_INTERVAL, .bias = opts.text_bias,
		},
	};
	enum sframe_reason reason;

	reason = sframe_read_packed(&state, &copy, ip, NULL);
	if (reason != want)
		finding("a copy is read otherwise");
	if (reason == SFRAME_REASON_NONE &&
	    memcmp(&state.sframe.frame, frame, sizeof(*frame)))
		finding("a copy has another rule");
}

static enum sframe_reason kernel_row(unsigned long ip, bool *signal,
				     struct unwind_user_frame *frame)
{
	struct unwind_user_state state = { .topmost = true };
	struct sframe_func func;
	enum sframe_reason reason;

	*signal = false;
	state.sframe.slack = SFRAME_INTERVAL;
	state.sframe.budget = sframe_walk_budget(510, false);
	reason = sframe_is_packed(window) ?
		 sframe_read_packed(&state, window, ip, NULL) :
		 sframe_read(&state, window, ip, &func, NULL);
	if (copy.copied)
		compare_copy(ip, reason, &state.sframe.frame);
	if (reason)
		return reason;
	*frame = state.sframe.frame;
	*signal = frame->kind == UNWIND_USER_FRAME_SIGNAL;
	return SFRAME_REASON_NONE;
}

static bool same_rule(const struct sfjit_rule *rule,
		      const struct unwind_user_rule *want)
{
	u8 from = want->from & ~UNWIND_USER_DEREF;

	if (from == UNWIND_USER_FROM_NONE)
		return rule->base == SFJIT_BASE_NONE;
	if (rule->offset != want->off ||
	    rule->deref != !!(want->from & UNWIND_USER_DEREF))
		return false;
	switch (from) {
	case UNWIND_USER_FROM_CFA:
		return rule->base == SFJIT_BASE_CFA;
	case UNWIND_USER_FROM_SP:
		return rule->base == SFJIT_BASE_REG &&
		       rule->reg == SFJIT_X86_64_SP;
	case UNWIND_USER_FROM_FP:
		return rule->base == SFJIT_BASE_REG &&
		       rule->reg == SFJIT_X86_64_FP;
	default:
		return rule->base == SFJIT_BASE_REG && rule->reg == want->regnum;
	}
}

/* Rows say only what tables of the library do. */
static u32 third_flag(u8 third)
{
	return third > 31 ? 0 : third * SFJIT_ROW_RBX_KEPT;
}

static bool same_row(const struct sfjit_row *row,
		     const struct unwind_user_frame *frame)
{
	struct sfjit_rule ra = row->ra;

	if (frame->kind == UNWIND_USER_FRAME_OUTERMOST)
		return row->flags == SFJIT_ROW_OUTERMOST;
	if (frame->kind == UNWIND_USER_FRAME_POINTER)
		return row->flags == SFJIT_ROW_FP;
	/* No rule stands for the place of the ABI. */
	if (!ra.base)
		ra = sfjit_rule_saved(-8);
	return row->flags == third_flag(frame->third) &&
	       same_rule(&row->cfa, &frame->cfa) &&
	       same_rule(&ra, &frame->ra) && same_rule(&row->fp, &frame->fp) &&
	       row->cfa.addend == frame->cfa_addend;
}

/* Is the return address where a call put it, or at the frame pointer? */
static bool is_called(const struct sfjit_row *row)
{
	if (row->ra.base == SFJIT_BASE_REG)
		return row->ra.deref && row->ra.reg == SFJIT_X86_64_FP;
	return row->ra.base == SFJIT_BASE_NONE || row->ra.offset < 0;
}

/* Does it say that there is no function, which is no mistake? */
static bool is_gap(enum sframe_reason reason)
{
	return reason == SFRAME_REASON_NO_FDE ||
	       (sframe_is_packed(window) && reason == SFRAME_REASON_NO_ROW);
}

/* One address. Returns whether it has a row, or may have none. */
static bool compare_row(unsigned long ip)
{
	struct sfjit_complaint complaint = { 0 };
	struct unwind_user_frame frame;
	struct sfjit_function function;
	enum sframe_reason reason;
	struct sfjit_row row;
	bool signal;
	int ret = sfjit_find_row(&table, (void *)ip, &function, &row,
				 &complaint);

	if (ip < window->text_start || ip >= window->text_end) {
		if (ret != -ENOENT)
			finding("an address outside of the text has a row");
		return false;
	}
	reason = kernel_row(ip, &signal, &frame);
	if (!reason != !ret)
		finding(ret ? "only the kernel has a row" :
			      "only the library has a row");
	if (ret) {
		if (strcmp(names[reason], complaint.reason))
			finding("a row is refused for different reasons");
		if ((ret == -ENOENT) != is_gap(reason))
			finding("a refusal has a different errno");
		return sframe_is_packed(window) && is_gap(reason);
	}
	if (signal != (function.flags & SFJIT_FUNCTION_SIGNAL &&
		       (!function.nr_rows || !is_called(&row))))
		finding("a signal frame differs");
	if (frame.exact != (function.flags & SFJIT_FUNCTION_SIGNAL && !signal &&
			    !row.flags))
		finding("an address is exact, or not");
	if (!signal && !same_row(&row, &frame))
		finding("a row differs");
	return true;
}

static u64 number(unsigned long off, unsigned int size)
{
	return get_number(section + off, size);
}

static bool is_in_text(unsigned long ip)
{
	return ip >= window->text_start && ip < window->text_end;
}

/* Each address of a function, and those next to it. Returns if all have rows. */
static bool compare_function(u32 nr)
{
	unsigned long fde = window->section.fdes + nr * 16UL -
			    (unsigned long)section;
	unsigned long start = (unsigned long)section + fde + number(fde, 8) +
			      opts.text_bias, i;
	u32 size = number(fde + 8, 4);
	bool all = true;

	compare_row(start - 1);
	compare_row(start + size);
	for (i = 0; i < size; i++) {
		if (i == NEAR && size > 2 * NEAR)
			i = size - NEAR;
		all &= compare_row(start + i) || !is_in_text(start + i);
	}
	return all;
}

/* Each address at the ends of the code that a packed table describes. */
static bool compare_table(void)
{
	unsigned long start = window->packed.text_start, i;
	u32 size = window->packed.text_length;
	bool all = true;

	compare_row(start - 1);
	compare_row(start + size);
	for (i = 0; i < size; i++) {
		if (i == 2 * NEAR && size > 4 * NEAR)
			i = size - 2 * NEAR;
		all &= compare_row(start + i) || !is_in_text(start + i);
	}
	return all;
}

/* What the library refuses and the kernel does not look at, or not there. */
static bool is_own_rule(const struct sfjit_complaint *complaint)
{
	return (sframe_is_packed(window) &&
		!strcmp(complaint->reason, "row_order")) ||
	       !strcmp(complaint->reason, "fde_order") ||
	       !strcmp(complaint->reason, "cfa_order") ||
	       !strcmp(complaint->reason, "cfa_align") ||
	       !is_in_text((unsigned long)complaint->address);
}

static bool is_table(void)
{
	return length >= 2 && number(0, 2) == PACKED_MAGIC;
}

/* The table as that of a file; addresses in it are offsets then. */
static void copy_table(void)
{
	copy = (struct sframe_window){ .format = SFRAME_FORMAT_PACKED };
	copy.copied = is_table() &&
		      !sframe_check_copy(&copy.packed, section, length, 0);
}

/* Does the text of the window reach all blocks, to their ends? */
static bool is_all_text(void)
{
	const struct sframe_packed *packed = &window->packed;
	const u32 last = packed->text_length - 1;

	return !packed->repeat && last % 256 == 255 &&
	       is_in_text(packed->text_start) &&
	       is_in_text(packed->text_start + last);
}

static void compare_all(void)
{
	struct sfjit_complaint complaint = { 0 };
	int ret = sfjit_check(&table, &complaint);
	struct unwind_user_frame frame;
	enum sframe_reason reason;
	u32 nr;
	bool signal, all = true;

	if (sframe_is_packed(window)) {
		all = compare_table();
		if (copy.copied && !all)
			finding("a table with a bad row is taken for a file");
		if (!copy.copied && !ret && is_all_text())
			finding("a good table is not taken for a file");
	}
	for (nr = 0; nr < window->section.num_fdes; nr++)
		all &= compare_function(nr);
	if (!ret && !all)
		finding("a section with a bad row passes the check");
	if (!ret || is_own_rule(&complaint))
		return;
	reason = kernel_row((unsigned long)complaint.address, &signal, &frame);
	if (!names[reason] || strcmp(names[reason], complaint.reason))
		finding("a complaint is none of the kernel's");
}

/* From the section, where the input has it so; else as it is. */
static u64 address(u64 value)
{
	s32 distance = (s32)value;

	switch (value >> 56) {
	case TAG_SECTION:
		return (unsigned long)section + distance;
	case TAG_TEXT: case TAG_STACK: case TAG_SECOND: case TAG_END:
		return (unsigned long)section + 64 + distance;
	default:
		return value;
	}
}

static void compare(const struct input *in)
{
	int ret;

	opts = (struct sframe_window_opts) {
		.size = sizeof(opts),
		.format = is_table() ? SFRAME_FORMAT_PACKED : SFRAME_FORMAT_V3,
		.text_bias = in->regs[BIAS_REG],
	};
	if (!(in->flags & INPUT_NO_OPTS)) {
		opts.text_start = address(in->text_start);
		opts.text_length = in->text_length;
	}
	/*
	 * No code is there: the library does not know where the end is, and
	 * has NULL for the range of the section.
	 */
	if (opts.text_start + opts.text_length > TASK_SIZE ||
	    (!opts.text_start && opts.text_length))
		return;
	table = (struct sfjit_table) {
		.section = section, .length = length,
		.text = (void *)(unsigned long)opts.text_start,
		.text_length = opts.text_length,
		.bias = opts.text_bias,
	};
	window = NULL;
	copy_table();
	ret = sframe_prctl_register(1, (unsigned long)section, length,
				    (unsigned long)&opts);
	if (ret && ret != -EINVAL)
		finding("a registration fails otherwise");
	if (ret) {
		if (sfjit_check(&table, NULL) == -EINVAL)
			return;
		/* As above, where functions say where the text is. */
		if (!opts.text_length)
			return;
		finding("only the library takes the section");
	}
	if (sfjit_check(&table, NULL) == -EINVAL)
		finding("only the kernel takes the section");
	compare_all();
	sframe_window_free(window);
}

int LLVMFuzzerTestOneInput(const u8 *data, size_t size)
{
	struct input in = { 0 };
	unsigned long room;
	u8 *bytes;

	memcpy(&in, data, min(size, sizeof(in)));
	data += min(size, sizeof(in));
	size -= min(size, sizeof(in));
	length = min((size_t)in.section_size, size);
	/* A copy of its own: a byte too far is seen. */
	room = in.pad % 16;
	bytes = malloc(room + length);
	memcpy(bytes + room, data, length);
	section = bytes + room;
	if (length)
		compare(&in);
	free(bytes);
	return 0;
}

/* ---- What assemblers and linkers make ---------------------------------- */

struct made {
	unsigned long functions, addresses, without;
};

static void count_function(struct made *made, u32 nr)
{
	unsigned long fde = window->section.fdes + nr * 16UL -
			    (unsigned long)section;
	unsigned long start = (unsigned long)section + fde + number(fde, 8) +
			      opts.text_bias, i;
	u32 size = number(fde + 8, 4);

	made->functions++;
	for (i = 0; i < size; i++) {
		made->addresses++;
		made->without += !compare_row(start + i);
	}
}

struct made check_made(const u8 *bytes, unsigned long size, u64 at, u64 text,
		       u64 text_length);

/* The section of @size bytes was linked for @at. */
struct made check_made(const u8 *bytes, unsigned long size, u64 at, u64 text,
		       u64 text_length)
{
	struct made made = { 0 };
	u32 nr;

	section = bytes;
	length = size;
	opts = (struct sframe_window_opts) {
		.size = sizeof(opts), .text_start = text,
		.text_length = text_length,
		.text_bias = at - (unsigned long)section,
	};
	table = (struct sfjit_table) {
		.section = section, .length = length,
		.text = (void *)(unsigned long)text, .text_length = text_length,
		.bias = opts.text_bias,
	};
	if (sframe_prctl_register(1, (unsigned long)section, length,
				  (unsigned long)&opts))
		return made;
	for (nr = 0; nr < window->section.num_fdes; nr++)
		count_function(&made, nr);
	compare_all();
	if (sfjit_check(&table, NULL))
		finding("the library refuses the section");
	sframe_window_free(window);
	return made;
}
