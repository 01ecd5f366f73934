// SPDX-License-Identifier: MIT
// SPDX-FileCopyrightText: 2026 The sfjit authors
/* SFrame V3 and a step through it, read plainly. */
#include "model.h"

/* Limits of the kernel's, as documented: not of the format. */
#define MAX_ROWS	64
#define MAX_SIGNALS	8
#define MAX_INDEX	(1 << 24)

/* Little-endian, @size bytes at @p. */
static u64 number(const u8 *p, unsigned int size)
{
	u64 value = 0;

	while (size--)
		value = value << 8 | p[size];
	return value;
}

static s32 signed_number(u64 value, unsigned int size)
{
	u64 sign = 1ULL << (8 * size - 1);

	return (value ^ sign) - sign;
}

/* Registration. */

struct opts {
	u32 size, flags;
	u64 text_start, text_length;
	u32 format, reserved;
};

static int read_opts(struct opts *opts, unsigned long addr)
{
	u8 bytes[PAGE_SIZE];
	u32 size;
	unsigned int i;

	memset(opts, 0, sizeof(*opts));
	if (!addr)
		return 0;
	if (model_take_loads(addr, 4, &size))
		return -EFAULT;
	if (size < 32)
		return -EINVAL;
	if (size > PAGE_SIZE)
		return -E2BIG;
	if (size > 32 && model_take_loads(addr + 32, size - 32, bytes))
		return -EFAULT;
	for (i = 32; i < size; i++)
		if (bytes[i - 32])
			return -E2BIG;
	if (model_take_loads(addr, 32, bytes))
		return -EFAULT;
	opts->flags = number(bytes + 4, 4);
	opts->text_start = number(bytes + 8, 8);
	opts->text_length = number(bytes + 16, 8);
	if (opts->flags > 3 || number(bytes + 24, 8))
		return -EINVAL;
	return 0;
}

/* Bytes 0 to 7: magic, version 3, flags, AMD64, no FP, RA at -8, no more. */
static const u8 only_start[8] = { 0xe2, 0xde, 3, 5, 3, 0, 0xf8, 0 };

static int read_header(struct ref_window *ref, const u8 *h)
{
	u64 fdes = 28 + number(h + 20, 4), fres = 28 + number(h + 24, 4);
	u64 nr = number(h + 8, 4), fres_end = fres + number(h + 16, 4);
	u64 space = fres < fdes ? 0 : (fres - fdes) / 16;

	if (memcmp(h, only_start, sizeof(only_start)))
		return -EINVAL;
	if (ref->live)
		fres_end = ref->length;
	if (fdes > fres || nr > space || fres > ref->length ||
	    fres_end > ref->length)
		return -EINVAL;
	if (ref->live)
		nr = space;
	if (nr > MAX_INDEX)
		return -EINVAL;
	ref->fdes = fdes;
	ref->fres = fres;
	ref->fres_end = fres_end;
	ref->num_fdes = nr;
	return 0;
}

static int read_section(struct ref_window *ref)
{
	u8 header[28];

	if (ref->live && ref->addr % 8)
		return -EINVAL;
	if (ref->length < 28 || ref->length > U32_MAX ||
	    ref->addr > TASK_SIZE || ref->length > TASK_SIZE - ref->addr)
		return -EINVAL;
	if (model_take_loads(ref->addr, sizeof(header), header))
		return -EFAULT;
	return read_header(ref, header);
}

static int read_index_entry(const struct ref_window *ref, u32 nr, u64 *start,
			    u32 *size)
{
	unsigned long addr = ref->addr + ref->fdes + 16 * (u64)nr;
	u8 fde[16];

	if (model_take_loads(addr, sizeof(fde), fde))
		return -EFAULT;
	*start = addr + number(fde, 8);
	*size = number(fde + 8, 4);
	return 0;
}

static int range_of_index(struct ref_window *ref)
{
	u64 last;
	u32 size;

	if (!ref->num_fdes)
		return -EINVAL;
	if (read_index_entry(ref, 0, (u64 *)&ref->text_start, &size) ||
	    read_index_entry(ref, ref->num_fdes - 1, &last, &size))
		return -EFAULT;
	ref->text_end = last + size;
	return ref->text_end < last ? -EINVAL : 0;
}

static int read_range(struct ref_window *ref, const struct opts *opts)
{
	int ret = 0;

	ref->text_start = opts->text_start;
	ref->text_end = opts->text_start + opts->text_length;
	if (ref->text_end < ref->text_start)
		return -EINVAL;
	if (!opts->text_start && !opts->text_length)
		ret = ref->live ? -EINVAL : range_of_index(ref);
	if (ret)
		return ret;
	if (ref->text_start >= ref->text_end || ref->text_end > TASK_SIZE)
		return -EINVAL;
	return 0;
}

int ref_register(struct ref_window *ref, unsigned long addr,
		 unsigned long len, unsigned long opts_addr)
{
	struct opts opts;
	int ret;

	if (shim_compat)
		return -EOPNOTSUPP;
	ret = read_opts(&opts, opts_addr);
	if (ret)
		return ret;
	if (model.no_memory)
		return -ENOMEM;
	memset(ref, 0, sizeof(*ref));
	ref->addr = addr;
	ref->length = len;
	ref->live = opts.flags & 2;
	ret = read_section(ref);
	return ret ? ret : read_range(ref, &opts);
}

/* Rules of a frame. */

bool ref_same_rule(const struct ref_rule *a, const struct ref_rule *b)
{
	return a->base == b->base && a->reg == b->reg && a->off == b->off &&
	       a->load == b->load;
}

/* Where in the section, and how much of the budget is gone. */
struct place {
	const struct ref_window *ref;
	u64 pos;
	u64 chunk_end;
	unsigned int budget;
	unsigned int spent;
};

static bool spent_all(struct place *place)
{
	if (place->spent == place->budget)
		return true;
	place->spent++;
	return false;
}

static enum sframe_reason take(struct place *place, unsigned int size,
			       u8 *bytes)
{
	while (size--)
		if (model_section_byte(place->ref, place->pos++, bytes++))
			return SFRAME_REASON_SECTION_FAULT;
	return SFRAME_REASON_NONE;
}

/*
 * The budget knows of chunks: 64 bytes, less at the end of a page or of the
 * rows.
 */
static bool starts_chunk(struct place *place)
{
	u64 addr = place->ref->addr + place->pos;
	u64 size = min(64UL, PAGE_SIZE - addr % PAGE_SIZE);

	if (place->pos < place->chunk_end)
		return false;
	place->chunk_end = min(place->pos + size, place->ref->fres_end);
	return true;
}

static enum sframe_reason take_row(struct place *place, unsigned int size,
				   u8 *bytes)
{
	for (; size; size--, bytes++) {
		if (place->pos >= place->ref->fres_end)
			return SFRAME_REASON_FRE_OFFSET;
		if (starts_chunk(place) && spent_all(place))
			return SFRAME_REASON_BUDGET;
		if (take(place, 1, bytes))
			return SFRAME_REASON_SECTION_FAULT;
	}
	return SFRAME_REASON_NONE;
}

static enum sframe_reason take_index(struct place *place, u64 pos,
				     unsigned int size, u8 *bytes)
{
	if (spent_all(place))
		return SFRAME_REASON_BUDGET;
	place->pos = pos;
	return take(place, size, bytes);
}

static enum sframe_reason entries_there(struct place *place, u32 *nr)
{
	enum sframe_reason reason;
	u8 count[4];

	*nr = place->ref->num_fdes;
	if (!place->ref->live)
		return SFRAME_REASON_NONE;
	reason = take_index(place, 8, sizeof(count), count);
	if (!reason && number(count, 4) < *nr)
		*nr = number(count, 4);
	return reason;
}

struct function {
	u64 start;
	u32 size, rows;
};

/*
 * Halving, with the middle rounded down: which entries an unsorted index
 * shows is decided by it.
 */
static enum sframe_reason find_function(struct place *place, u64 ip,
					struct function *function)
{
	u64 below = 0, above = ~0ULL, at;
	enum sframe_reason reason;
	u32 first = 0, behind, mid;
	bool any = false;
	u8 fde[16];

	reason = entries_there(place, &behind);
	while (!reason && first < behind) {
		mid = (u32)(((u64)first + behind) / 2);
		at = place->ref->fdes + 16 * (u64)mid;
		reason = take_index(place, at, sizeof(fde), fde);
		if (reason)
			break;
		at += place->ref->addr + number(fde, 8);
		if (at < below || at > above)
			return SFRAME_REASON_FDE_ORDER;
		if (at > ip) {
			above = at;
			behind = mid;
			continue;
		}
		below = at;
		first = mid + 1;
		function->start = at;
		function->size = number(fde + 8, 4);
		function->rows = number(fde + 12, 4);
		any = true;
	}
	if (reason)
		return reason;
	return any ? SFRAME_REASON_NONE : SFRAME_REASON_NO_FDE;
}

static enum sframe_reason check_function(const struct ref_window *ref, u64 ip,
					 const struct function *function)
{
	u64 end = function->start + function->size;

	if (ip - function->start >= function->size)
		return SFRAME_REASON_NO_FDE;
	if (end < function->start || function->start < ref->text_start ||
	    end > ref->text_end)
		return SFRAME_REASON_FDE_RANGE;
	if (function->rows >= ref->fres_end - ref->fres)
		return SFRAME_REASON_FRE_OFFSET;
	return SFRAME_REASON_NONE;
}

struct attributes {
	unsigned int nr_rows, start_size, block;
	bool flex, signal;
};

static enum sframe_reason take_attributes(struct place *place,
					  struct attributes *attr)
{
	enum sframe_reason reason;
	u8 bytes[5];

	reason = take_row(place, sizeof(bytes), bytes);
	if (reason)
		return reason;
	if (bytes[2] & 0x40 || bytes[3] > 1 || (bytes[2] & 15) > 2)
		return SFRAME_REASON_FDE_TYPE;
	attr->nr_rows = number(bytes, 2);
	attr->start_size = 1 << (bytes[2] & 15);
	attr->signal = bytes[2] & 0x80;
	attr->flex = bytes[3];
	attr->block = bytes[2] & 0x10 ? bytes[4] : 0;
	if (bytes[2] & 0x10 && !bytes[4])
		return SFRAME_REASON_REP_SIZE;
	return SFRAME_REASON_NONE;
}

struct row {
	unsigned int nr, size;
	u8 info;
	u8 bytes[24];
};

static enum sframe_reason take_words(struct place *place, struct row *row)
{
	enum sframe_reason reason = take_row(place, 1, &row->info);

	if (reason)
		return reason;
	row->nr = row->info >> 1 & 15;
	row->size = 1 << (row->info >> 5 & 3);
	if (row->nr > 6 || row->size > 4)
		return SFRAME_REASON_ROW_WORDS;
	return take_row(place, row->nr * row->size, row->bytes);
}

static enum sframe_reason find_row(struct place *place,
				   const struct attributes *attr, u64 off,
				   struct row *row)
{
	enum sframe_reason reason;
	unsigned int i;
	u64 start, last = 0;
	u8 bytes[4];

	for (i = 0; i < attr->nr_rows; i++, last = start) {
		if (i == MAX_ROWS)
			return SFRAME_REASON_ROW_COUNT;
		if (spent_all(place))
			return SFRAME_REASON_BUDGET;
		reason = take_row(place, attr->start_size, bytes);
		if (reason)
			return reason;
		start = number(bytes, attr->start_size);
		if (i && start <= last)
			return SFRAME_REASON_ROW_ORDER;
		if (start > off)
			break;
		reason = take_words(place, row);
		if (reason)
			return reason;
	}
	return i ? SFRAME_REASON_NONE : SFRAME_REASON_NO_ROW;
}

static u32 word(const struct row *row, unsigned int i)
{
	return number(row->bytes + i * row->size, row->size);
}

static s32 offset(const struct row *row, unsigned int i)
{
	return signed_number(word(row, i), row->size);
}

static struct ref_rule saved_at(s32 off)
{
	return (struct ref_rule) { .base = REF_CFA, .off = off, .load = true };
}

static enum sframe_reason default_frame(const struct row *row,
					struct ref_frame *frame)
{
	if (row->nr > 2)
		return SFRAME_REASON_ROW_WORDS;
	frame->cfa.base = row->info & 1 ? REF_SP : REF_FP;
	frame->cfa.off = offset(row, 0);
	if (row->nr == 2)
		frame->fp = saved_at(offset(row, 1));
	return SFRAME_REASON_NONE;
}

/* DWARF's numbers: 6 is rbp, 7 is rsp. */
static enum sframe_reason pair(const struct row *row, unsigned int i,
			       struct ref_rule *rule)
{
	u32 control = word(row, i), reg = control >> 3;

	if (control & 4)
		return SFRAME_REASON_ROW_RULE;
	rule->load = control & 2;
	rule->off = offset(row, i + 1);
	if (!(control & 1)) {
		rule->base = REF_CFA;
		return SFRAME_REASON_NONE;
	}
	if (reg > 0xffff)
		return SFRAME_REASON_ROW_REGISTER;
	rule->base = reg == 7 ? REF_SP : reg == 6 ? REF_FP : REF_OTHER;
	rule->reg = rule->base == REF_OTHER ? reg : 0;
	return SFRAME_REASON_NONE;
}

/* cfa; cfa, ra; cfa, 0, fp; cfa, ra, fp */
static enum sframe_reason flex_frame(const struct row *row,
				     struct ref_frame *frame)
{
	enum sframe_reason reason;

	if (row->nr == 1 || row->nr == 3 || (row->nr == 5 && word(row, 2)))
		return SFRAME_REASON_ROW_WORDS;
	reason = pair(row, 0, &frame->cfa);
	if (!reason && frame->cfa.base == REF_CFA)
		reason = SFRAME_REASON_ROW_RULE;
	if (!reason && (row->nr == 4 || row->nr == 6))
		reason = pair(row, 2, &frame->ra);
	if (!reason && frame->ra.base == REF_CFA && !frame->ra.load)
		reason = SFRAME_REASON_ROW_RULE;
	if (!reason && row->nr > 4)
		reason = pair(row, row->nr - 2, &frame->fp);
	return reason;
}

static enum sframe_reason row_frame(const struct row *row, bool flex,
				    struct ref_frame *frame)
{
	if (!row->nr) {
		frame->outermost = true;
		return SFRAME_REASON_NONE;
	}
	/* Signed return addresses are AArch64's. */
	if (row->info & 0x80)
		return SFRAME_REASON_ROW_RULE;
	frame->ra = saved_at(-8);
	return flex ? flex_frame(row, frame) : default_frame(row, frame);
}

static enum sframe_reason find_frame(struct place *place, u64 ip,
				     struct ref_frame *frame)
{
	const struct ref_window *ref = place->ref;
	struct function function = { 0 };
	enum sframe_reason reason;
	struct attributes attr;
	struct row row = { 0 };
	u64 off;

	memset(frame, 0, sizeof(*frame));
	reason = find_function(place, ip, &function);
	if (!reason)
		reason = check_function(ref, ip, &function);
	if (reason)
		return reason;

	place->pos = ref->fres + function.rows;
	reason = take_attributes(place, &attr);
	if (reason)
		return reason;
	if (attr.signal) {
		frame->signal = true;
		return SFRAME_REASON_NONE;
	}
	off = ip - function.start;
	if (attr.block)
		off %= attr.block;
	reason = find_row(place, &attr, off, &row);
	return reason ? reason : row_frame(&row, attr.flex, frame);
}

enum sframe_reason ref_find(const struct ref_window *ref, unsigned long ip,
			    unsigned int budget, struct ref_frame *frame,
			    unsigned int *spent)
{
	struct place place = { .ref = ref, .budget = budget };
	enum sframe_reason reason = find_frame(&place, ip, frame);

	*spent = place.spent;
	return reason;
}

/* Steps. */

static int stack_word(const struct unwind_user_state *state,
		      unsigned long addr, unsigned long *value)
{
	*value = 0;
	/* There the address is checked before anything is tried. */
	if (model.faults_disabled && addr > TASK_SIZE)
		return -EFAULT;
	return model_take_loads(addr, state->ws, value);
}

/* DWARF's order of the registers. */
static unsigned long *reg_of(struct pt_regs *r, u32 nr)
{
	unsigned long *const regs[16] = {
		&r->ax, &r->dx, &r->cx, &r->bx, &r->si, &r->di, &r->bp,
		&r->sp, &r->r8, &r->r9, &r->r10, &r->r11, &r->r12, &r->r13,
		&r->r14, &r->r15,
	};

	return nr < ARRAY_SIZE(regs) ? regs[nr] : NULL;
}

static enum sframe_reason rule_value(const struct unwind_user_state *state,
				     const struct ref_rule *rule,
				     unsigned long cfa, unsigned long *value)
{
	unsigned long base = 0, *reg;

	switch (rule->base) {
	case REF_NONE:
		return SFRAME_REASON_NONE;
	case REF_CFA:
		base = cfa;
		break;
	case REF_SP:
		base = state->sp;
		break;
	case REF_FP:
		base = state->fp;
		break;
	case REF_OTHER:
		/* Only a topmost frame's registers are all known. */
		reg = reg_of(&shim_regs, rule->reg);
		if (!state->topmost || !state->regs || !reg)
			return SFRAME_REASON_ROW_REGISTER;
		base = *reg;
		break;
	}
	base += (s64)rule->off;
	if (rule->load && stack_word(state, base, value))
		return SFRAME_REASON_STACK_FAULT;
	if (!rule->load)
		*value = base;
	return SFRAME_REASON_NONE;
}

static const struct return_instance *probe_at(const struct return_instance *ri,
					      unsigned long slot)
{
	while (ri && ri->stack != slot)
		ri = ri->next;
	return ri;
}

/* The lowest place of an address, from @slot on, that a probe has taken. */
static unsigned long next_probe(const struct return_instance *ri,
				unsigned long slot)
{
	unsigned long lowest = ULONG_MAX;

	for (; ri; ri = ri->next)
		if (ri->stack >= slot && ri->stack < lowest)
			lowest = ri->stack;
	return lowest;
}

/*
 * A return probe has put its trampoline in the place of the address, which was
 * at the stack pointer when the function was entered. A frame pointer may lead
 * to a copy of it, which is below.
 */
static enum sframe_reason probed_return(const struct unwind_user_state *state,
					bool by_fp, unsigned long *cfa,
					unsigned long *ra)
{
	const struct return_instance *ri;
	unsigned long slot = *cfa - state->ws;

	if (!state->ri || *ra != shim_trampoline)
		return SFRAME_REASON_NONE;
	if (by_fp)
		slot = next_probe(state->ri, slot);
	ri = probe_at(state->ri, slot);
	if (!ri)
		return SFRAME_REASON_STACK_FAULT;
	*ra = ri->orig_ret_vaddr;
	*cfa = slot + state->ws;
	return SFRAME_REASON_NONE;
}

static enum sframe_reason apply(struct unwind_user_state *state,
				const struct ref_frame *frame, bool checked)
{
	unsigned long cfa = 0, ra = state->ip, fp = state->fp;
	enum sframe_reason reason;

	reason = rule_value(state, &frame->cfa, 0, &cfa);
	if (!reason && checked && (cfa < state->sp ||
				   (cfa == state->sp && !state->topmost)))
		reason = SFRAME_REASON_CFA_ORDER;
	if (!reason && checked && cfa % state->ws)
		reason = SFRAME_REASON_CFA_ALIGN;
	if (!reason)
		reason = rule_value(state, &frame->ra, cfa, &ra);
	if (!reason)
		reason = rule_value(state, &frame->fp, cfa, &fp);
	if (!reason)
		reason = probed_return(state, frame->by_fp, &cfa, &ra);
	if (reason)
		return reason;
	state->ip = ra;
	state->sp = cfa;
	state->fp = fp;
	state->topmost = false;
	state->exact_ip = false;
	return SFRAME_REASON_NONE;
}

/*
 * x86-64: sp is at the ucontext, its mcontext at 40, and there rbp at 80, rsp
 * at 120, rip at 128, cs at 144. The copy is from rbp to ss.
 */
static enum sframe_reason apply_signal(struct unwind_user_state *state)
{
	u8 bytes[72];

	if (state->signals >= MAX_SIGNALS)
		return SFRAME_REASON_SIGNAL;
	if (model_take_loads(state->sp + 120, sizeof(bytes), bytes))
		return SFRAME_REASON_STACK_FAULT;
	if (number(bytes + 64, 2) != 0x33)
		return SFRAME_REASON_SIGNAL;
	state->fp = number(bytes, 8);
	state->sp = number(bytes + 40, 8);
	state->ip = number(bytes + 48, 8);
	state->regs = NULL;
	state->signals++;
	state->topmost = true;
	state->exact_ip = true;
	return SFRAME_REASON_NONE;
}

/*
 * The window at @ip: its frame, or no window. What was read counts if no
 * window was removed meanwhile, or this one is still there.
 */
static enum sframe_reason frame_at(unsigned long ip, struct ref_frame *frame,
				   bool *any)
{
	unsigned int tries;
	struct find *find;
	u32 seq;

	for (tries = 0; tries < 2; tries++) {
		find = model_take_find(ip);
		seq = find->seq;
		/* Gone before it was pinned. */
		while (find->window && !find->read)
			find = model_take_find(ip);
		*any = find->window;
		if (!find->window)
			return SFRAME_REASON_NONE;
		*frame = find->frame;
		if (find->seq_behind == seq ||
		    model_take_find(ip)->window == find->window)
			return find->reason;
	}
	return SFRAME_REASON_CHANGED;
}

int ref_step(struct unwind_user_state *state, enum sframe_reason *reason)
{
	unsigned long ip = state->exact_ip ? state->ip : state->ip - 1;
	struct ref_frame frame;
	bool any;

	*reason = SFRAME_REASON_NONE;
	if (!shim_task.mm->sframe)
		return -ENOENT;
	*reason = frame_at(ip, &frame, &any);
	if (!any)
		return -ENOENT;
	if (*reason)
		return -EINVAL;
	if (frame.outermost) {
		state->done = true;
		return 0;
	}
	*reason = frame.signal ? apply_signal(state) :
				 apply(state, &frame, true);
	return *reason ? -EINVAL : 0;
}

int ref_fp_step(struct unwind_user_state *state, bool checked)
{
	const s32 ws = state->ws;
	const struct ref_frame entry = {
		.cfa = { .base = REF_SP, .off = ws },
		.ra = saved_at(-ws),
	};
	const struct ref_frame frame = {
		.cfa = { .base = REF_FP, .off = 2 * ws },
		.ra = saved_at(-ws),
		.fp = saved_at(-2 * ws),
		.by_fp = true,
	};

	if (state->topmost && state->regs && shim_function_start)
		return apply(state, &entry, checked);
	if (checked && state->fp < state->sp)
		return SFRAME_REASON_CFA_ORDER;
	return apply(state, &frame, checked);
}

/* Walks. */

static bool start(struct unwind_user_state *state)
{
	const struct uprobe_task *utask = shim_task.utask;

	memset(state, 0, sizeof(*state));
	state->ip = shim_regs.ip;
	state->sp = shim_regs.sp;
	state->fp = shim_regs.bp;
	state->regs = &shim_regs;
	state->ws = shim_regs.cs == __USER_CS ? 8 : 4;
	state->topmost = true;
	state->exact_ip = true;
	if (utask) {
		state->ri = utask->return_instances;
		if (utask->active_uprobe && state->ip == utask->xol_vaddr)
			state->ip = utask->vaddr;
	}
	return !(shim_regs.flags & X86_VM_MASK);
}

/* A frame that a window refuses ends the walk; frame pointers do the rest. */
static bool next(struct unwind_user_state *state, bool windows, bool checked)
{
	enum sframe_reason reason;
	int ret = -ENOENT;

	if (windows)
		ret = ref_step(state, &reason);
	if (ret == -ENOENT)
		ret = ref_fp_step(state, checked);
	return !ret && !state->done;
}

unsigned int ref_deferred_walk(unsigned long *ips, unsigned int max)
{
	struct unwind_user_state state;
	unsigned int nr = 0;
	bool windows;

	if (shim_task.flags & PF_KTHREAD || !(shim_regs.cs & 3) ||
	    !start(&state))
		return 0;
	windows = state.ws == 8 && model.nr_windows;
	do {
		ips[nr++] = state.ip;
	} while (nr < max && next(&state, windows, true));
	return nr;
}

unsigned int ref_perf_walk(unsigned long *ips, unsigned int max,
			   unsigned int limit)
{
	struct unwind_user_state state;
	unsigned int nr = 0;

	if (!start(&state) || state.ws != 8)
		return 0;
	while (nr < max && next(&state, true, false)) {
		if (nr == limit)
			break;
		ips[nr++] = state.ip;
	}
	return nr;
}
