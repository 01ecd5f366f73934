// SPDX-License-Identifier: GPL-2.0
/*
 * One step of a walk through an SFrame window: find the window, decode the row
 * of the address, apply its rules.
 *
 * User space owns the section: it may be malformed and may change at any time.
 * So read each byte once, into a local variable, then check it, then use it. A
 * bad section can make the walk of its own task fail or lie, but do no other
 * harm.
 *
 * A step reads table and stack in one access section. Each address is masked
 * separately, see user.h.
 */
#include <linux/mm.h>
#include <linux/overflow.h>
#include <linux/sched.h>
#include <linux/sched/clock.h>
#include <linux/sframe.h>

#include "sframe.h"
#include "sframe_format.h"
#include "sframe_packed.h"
#include "sframe_step.h"

/* The offset of a CFA is stored as (offset + SP_OFF) / CFA_SCALE. */
#ifndef UNWIND_USER_SFRAME_CFA_SCALE
#define UNWIND_USER_SFRAME_CFA_SCALE	1
#endif

/* A row as stored. @words is the user address of its data words. */
struct sframe_row {
	unsigned long	words;
	u8		info;
};

/* Parts of structures, each read by a single load. */
union sframe_fde_rest {
	u64	load;
	struct {
		u32	func_size;
		u32	fre_off;
	};
};

union sframe_attr_head {
	u32	load;
	struct {
		u16	num_fres;
		u8	info;
		u8	info2;
	};
};

/**
 * sframe_look - check the budget and the deadline of a walk
 * @walk:	the walk; gets SFRAME_INTERVAL reads until the next check
 *
 * Any read may be slow: a page that was never used, or device memory. So read
 * the clock once per SFRAME_INTERVAL reads.
 *
 * Return: SFRAME_REASON_NONE, or why the walk has to end.
 */
enum sframe_reason sframe_look(struct sframe_walk *walk)
{
	walk->budget -= SFRAME_INTERVAL - walk->slack;
	walk->slack = SFRAME_INTERVAL;
	if (walk->budget < 0)
		return SFRAME_REASON_BUDGET;
	if (walk->deadline && (s64)(local_clock() - walk->deadline) > 0)
		return SFRAME_REASON_DEADLINE;
	return SFRAME_REASON_NONE;
}

/* Count a read. The deadline check is a call, so close the access section. */
static __always_inline enum sframe_reason sframe_spend(struct sframe_walk *walk)
{
	enum sframe_reason reason;

	if (likely(--walk->slack >= 0))
		return SFRAME_REASON_NONE;

	user_read_access_end();
	reason = sframe_look(walk);
	unwind_user_access_begin();
	return reason;
}

/* Charge a step through a window. Its time counts against the deadline. */
static enum sframe_reason sframe_charge(struct sframe_walk *walk)
{
	sframe_clock_go_on(walk);
	walk->slack -= SFRAME_STACK_READS;
	if (likely(walk->slack >= 0))
		return SFRAME_REASON_NONE;
	return sframe_look(walk);
}

/* Entries [@low, @high) of an index, where @lowest <= starts <= @highest. */
struct sframe_bounds {
	unsigned long	lowest;
	unsigned long	highest;
	u32		low;
	u32		high;
};

/* Find the last FDE that starts at or before @ip. */
static __always_inline enum sframe_reason
sframe_search_index(struct unwind_user_state *state,
		    const struct sframe_section *section, unsigned long ip,
		    struct sframe_bounds *bounds, unsigned long *fde)
{
	enum sframe_reason reason;
	unsigned long addr, start;
	s64 rel;
	u32 mid;

	*fde = 0;
	while (bounds->low < bounds->high) {
		reason = sframe_spend(&state->sframe);
		if (reason)
			return reason;
		mid = (bounds->low + bounds->high) / 2;
		addr = section->fdes + mid * sizeof(struct sframe_fde);
		if (!sframe_get(state, &rel, addr))
			return SFRAME_REASON_SECTION_FAULT;

		/* In a sorted index, each probe is within the bounds so far. */
		start = addr + rel + section->bias;
		if (start < bounds->lowest || start > bounds->highest)
			return SFRAME_REASON_FDE_ORDER;

		if (start > ip) {
			bounds->highest = start;
			bounds->high = mid;
		} else {
			bounds->lowest = start;
			bounds->low = mid + 1;
			*fde = addr;
		}
	}
	return *fde ? SFRAME_REASON_NONE : SFRAME_REASON_NO_FDE;
}

/* Find the FDE of @ip, and where in the FRE area its rows are. */
static __always_inline enum sframe_reason
sframe_find_fde(struct unwind_user_state *state,
		const struct sframe_window *window, unsigned long ip,
		struct sframe_func *func, u32 *fre_off)
{
	struct sframe_bounds bounds = {
		.highest = ULONG_MAX, .high = window->section.num_fdes,
	};
	union sframe_fde_rest rest;
	enum sframe_reason reason;
	unsigned long fde;

	reason = sframe_search_index(state, &window->section, ip, &bounds,
				     &fde);
	if (reason)
		return reason;
	if (!sframe_get(state, &rest.load,
			fde + offsetof(struct sframe_fde, func_size)))
		return SFRAME_REASON_SECTION_FAULT;

	/* A gap between functions, or an entry that was emptied. */
	func->start = bounds.lowest;
	func->size = rest.func_size;
	if (ip - func->start >= func->size)
		return SFRAME_REASON_NO_FDE;

	/* The function must lie within the window's text. */
	if (func->start < window->text_start ||
	    func->size > window->text_end - func->start)
		return SFRAME_REASON_FDE_RANGE;

	*fre_off = rest.fre_off;
	return SFRAME_REASON_NONE;
}

static const union sframe_attr_head sframe_attr_unknown = {
	.info = SFRAME_FDE_RESERVED | (UNWIND_USER_SFRAME_SIGNS_RA ? 0 :
				       SFRAME_FDE_PAUTH_KEY_B),
	.info2 = SFRAME_FDE2_RESERVED,
};

/* Read the attributes of a function, which precede its rows. */
static __always_inline enum sframe_reason
sframe_read_attr(struct unwind_user_state *state,
		 const struct sframe_section *section, u32 fre_off,
		 struct sframe_func *func)
{
	unsigned long addr = section->fres + fre_off;
	union sframe_attr_head head;

	/* The attributes must lie within the FRE area. */
	if (sizeof(struct sframe_fde_attr) > section->fres_end - section->fres ||
	    fre_off > section->fres_end - section->fres -
		      sizeof(struct sframe_fde_attr))
		return SFRAME_REASON_FRE_OFFSET;
	if (!sframe_get(state, &head.load, addr))
		return SFRAME_REASON_SECTION_FAULT;

	/*
	 * Unknown bits may change what the rows mean. The key bit is only valid
	 * on machines that sign return addresses.
	 */
	if (head.load & sframe_attr_unknown.load)
		return SFRAME_REASON_FDE_TYPE;

	/* Row starts have 1, 2 or 4 bytes. */
	if (SFRAME_FDE_FRE_TYPE(head.info) > SFRAME_FRE_TYPE_ADDR4 ||
	    SFRAME_FDE2_TYPE(head.info2) > SFRAME_FDE_TYPE_FLEX)
		return SFRAME_REASON_FDE_TYPE;

	func->rows = addr + sizeof(struct sframe_fde_attr);
	func->nr_rows = head.num_fres;
	func->fre_type = SFRAME_FDE_FRE_TYPE(head.info);
	func->flex = SFRAME_FDE2_TYPE(head.info2) == SFRAME_FDE_TYPE_FLEX;
	func->signal = head.info & SFRAME_FDE_SIGNAL;
	func->rep_size = 0;
	if (!(head.info & SFRAME_FDE_PCMASK))
		return SFRAME_REASON_NONE;

	if (!sframe_get(state, &func->rep_size, addr +
			offsetof(struct sframe_fde_attr, rep_size)))
		return SFRAME_REASON_SECTION_FAULT;
	/* The offset is taken modulo the block size. */
	if (!func->rep_size)
		return SFRAME_REASON_REP_SIZE;
	return SFRAME_REASON_NONE;
}

/*
 * Read the start of a row. A one-byte start and the info byte after it take one
 * load; otherwise the caller reads the info byte.
 */
static __always_inline bool
sframe_get_start(struct unwind_user_state *state, const u8 fre_type,
		 unsigned long addr, u32 *start, u8 *info)
{
	union {
		u16	load;
		struct {
			u8	start;
			u8	info;
		};
	} head;
	u16 half;

	switch (fre_type) {
	case SFRAME_FRE_TYPE_ADDR1:
		if (!sframe_get(state, &head.load, addr))
			return false;
		*start = head.start;
		*info = head.info;
		return true;
	case SFRAME_FRE_TYPE_ADDR2:
		if (!sframe_get(state, &half, addr))
			return false;
		*start = half;
		return true;
	default:
		return sframe_get(state, start, addr);
	}
}

/*
 * Length of a row's data words, by their number and size in the info byte.
 * Words have 1, 2 or 4 bytes, and no row needs more than seven of them.
 */
#define SFRAME_NO_WORDS		U8_MAX
#define SFRAME_WORDS_INDEX(info)	(((info) >> 1) & 0x3f)

static const u8 sframe_words_size[64] = {
	[0] = 0, 1, 2, 3, 4, 5, 6, 7,
	[8 ... 15] = SFRAME_NO_WORDS,
	[16] = 0, 2, 4, 6, 8, 10, 12, 14,
	[24 ... 31] = SFRAME_NO_WORDS,
	[32] = 0, 4, 8, 12, 16, 20, 24, 28,
	[40 ... 63] = SFRAME_NO_WORDS,
};

/*
 * Find the last row that starts at or before @off. Read only the head of each
 * row, its start and info byte. @fre_type is a compile-time constant.
 */
static __always_inline enum sframe_reason
sframe_scan_rows(struct unwind_user_state *state, unsigned long end,
		 struct sframe_func *func, u32 off, struct sframe_row *row,
		 const u8 fre_type)
{
	const unsigned int head = (1 << fre_type) + 1;
	const unsigned int nr_rows = func->nr_rows;
	unsigned long pos = func->rows;
	enum sframe_reason reason;
	s64 last = -1;
	unsigned int i;
	u32 start;
	u8 size, info;

	for (i = 0; i < nr_rows; i++) {
		reason = sframe_spend(&state->sframe);
		if (reason)
			return reason;

		/* Rows must not reach past the FRE area. */
		if (pos + head > end)
			return SFRAME_REASON_FRE_OFFSET;
		if (!sframe_get_start(state, fre_type, pos, &start, &info))
			return SFRAME_REASON_SECTION_FAULT;

		/* Row starts must strictly increase. */
		if (start <= last)
			return SFRAME_REASON_ROW_ORDER;
		if (start > off)
			break;
		last = start;

		if (fre_type != SFRAME_FRE_TYPE_ADDR1 &&
		    !sframe_get(state, &info, pos + head - 1))
			return SFRAME_REASON_SECTION_FAULT;
		size = sframe_words_size[SFRAME_WORDS_INDEX(info)];
		if (size == SFRAME_NO_WORDS)
			return SFRAME_REASON_ROW_WORDS;
		row->info = info;
		row->words = pos + head;
		pos = row->words + size;
	}
	if (!i)
		return SFRAME_REASON_NO_ROW;
	/* Nor must the data words. */
	return pos > end ? SFRAME_REASON_FRE_OFFSET : SFRAME_REASON_NONE;
}

static __always_inline enum sframe_reason
sframe_find_row(struct unwind_user_state *state,
		const struct sframe_section *section,
		struct sframe_func *func, u32 off, struct sframe_row *row)
{
	unsigned long end = section->fres_end;

	switch (func->fre_type) {
	case SFRAME_FRE_TYPE_ADDR1:
		return sframe_scan_rows(state, end, func, off, row,
					SFRAME_FRE_TYPE_ADDR1);
	case SFRAME_FRE_TYPE_ADDR2:
		return sframe_scan_rows(state, end, func, off, row,
					SFRAME_FRE_TYPE_ADDR2);
	default:
		return sframe_scan_rows(state, end, func, off, row,
					SFRAME_FRE_TYPE_ADDR4);
	}
}

/* Read data word @nr of a row, sign-extended like an offset. */
static __always_inline bool
sframe_get_word(struct unwind_user_state *state, const struct sframe_row *row,
		unsigned int nr, s32 *word)
{
	s16 half;
	s8 byte;

	switch (SFRAME_FRE_WORD_SIZE(row->info)) {
	case 0:
		if (!sframe_get(state, &byte, row->words + nr))
			return false;
		*word = byte;
		return true;
	case 1:
		if (!sframe_get(state, &half, row->words + 2 * nr))
			return false;
		*word = half;
		return true;
	default:
		return sframe_get(state, word, row->words + 4 * nr);
	}
}

/* Undo the scaling of a CFA offset; false if it exceeds 32 bits. */
static __always_inline bool sframe_scale_cfa(s32 *off)
{
	s64 scaled = (s64)*off * UNWIND_USER_SFRAME_CFA_SCALE -
		     UNWIND_USER_SFRAME_SP_OFF;

	*off = scaled;
	return *off == scaled;
}

/* If the ABI fixes no RA offset, word 1 is the RA offset, if present. */
static __always_inline enum sframe_reason
sframe_default_ra(struct unwind_user_state *state,
		  const struct sframe_row *row, unsigned int nr_words,
		  struct unwind_user_frame *frame)
{
	s32 off = 0;

	if (nr_words > 1 && !sframe_get_word(state, row, 1, &off))
		return SFRAME_REASON_SECTION_FAULT;
	if (off) {
		sframe_set_rule(&frame->ra,
				UNWIND_USER_FROM_CFA | UNWIND_USER_DEREF, off);
		return SFRAME_REASON_NONE;
	}

	/* 0 is a placeholder, valid only if an FP offset follows. */
	if (nr_words == 2)
		return SFRAME_REASON_ROW_WORDS;
	/* RA is in the link register, so this is not a plain frame. */
	frame->kind = UNWIND_USER_FRAME_RULES;
	return SFRAME_REASON_NONE;
}

/*
 * CFA = base + word 0. Then come the offsets from the CFA of RA, unless that is
 * fixed, and of FP. If the RA offset is missing, or is 0 before an FP offset,
 * RA is in the link register.
 */
static __always_inline enum sframe_reason
sframe_default_rules(struct unwind_user_state *state,
		     const struct sframe_row *row,
		     struct unwind_user_frame *frame)
{
	const unsigned int fp_word = UNWIND_USER_SFRAME_RA_OFF ? 1 : 2;
	unsigned int nr_words = SFRAME_FRE_WORDS(row->info);
	enum sframe_reason reason;
	s32 off;

	/* The FP offset is the last word. */
	if (nr_words > fp_word + 1)
		return SFRAME_REASON_ROW_WORDS;

	if (!sframe_get_word(state, row, 0, &off))
		return SFRAME_REASON_SECTION_FAULT;
	if (!sframe_scale_cfa(&off))
		return SFRAME_REASON_ROW_RULE;
	sframe_set_rule(&frame->cfa, SFRAME_FRE_BASE_SP(row->info) ?
			UNWIND_USER_FROM_SP : UNWIND_USER_FROM_FP, off);
	if (!UNWIND_USER_SFRAME_RA_OFF) {
		reason = sframe_default_ra(state, row, nr_words, frame);
		if (reason)
			return reason;
	}
	if (nr_words <= fp_word)
		return SFRAME_REASON_NONE;

	if (!sframe_get_word(state, row, fp_word, &off))
		return SFRAME_REASON_SECTION_FAULT;
	sframe_set_rule(&frame->fp, UNWIND_USER_FROM_CFA | UNWIND_USER_DEREF,
			off);
	return SFRAME_REASON_NONE;
}

/*
 * Read the (control, offset) pair at word *@nr of a FLEX row and advance *@nr.
 * The control word is unsigned.
 */
static __always_inline enum sframe_reason
sframe_get_rule(struct unwind_user_state *state, const struct sframe_row *row,
		unsigned int *nr, struct unwind_user_rule *rule)
{
	s32 word, off;
	u32 ctrl;

	if (!sframe_get_word(state, row, (*nr)++, &word) ||
	    !sframe_get_word(state, row, (*nr)++, &off))
		return SFRAME_REASON_SECTION_FAULT;
	ctrl = word & (U32_MAX >> (32 - (8 << SFRAME_FRE_WORD_SIZE(row->info))));

	sframe_set_rule(rule, UNWIND_USER_FROM_CFA, off);
	if (ctrl & SFRAME_FLEX_REG_P) {
		/* rule->regnum is a u16 and would truncate it. */
		if (SFRAME_FLEX_REGNUM(ctrl) > U16_MAX)
			return SFRAME_REASON_ROW_REGISTER;
		sframe_set_register(rule, SFRAME_FLEX_REGNUM(ctrl), off);
	}
	if (ctrl & SFRAME_FLEX_DEREF_P)
		rule->from |= UNWIND_USER_DEREF;
	return ctrl & SFRAME_FLEX_RESERVED ? SFRAME_REASON_ROW_RULE :
					     SFRAME_REASON_NONE;
}

/* A CFA rule cannot be based on the CFA. */
static __always_inline enum sframe_reason
sframe_get_cfa(struct unwind_user_state *state, const struct sframe_row *row,
	       unsigned int *nr, struct unwind_user_rule *cfa)
{
	enum sframe_reason reason = sframe_get_rule(state, row, nr, cfa);

	if (reason)
		return reason;
	return (cfa->from & ~UNWIND_USER_DEREF) != UNWIND_USER_FROM_CFA &&
	       sframe_scale_cfa(&cfa->off) ? SFRAME_REASON_NONE :
					     SFRAME_REASON_ROW_RULE;
}

/*
 * Rules for CFA, RA and FP, in this order. A single 0 word in place of the RA
 * pair keeps the default RA rule; it is valid only if an FP pair follows.
 */
static __always_inline enum sframe_reason
sframe_flex_rules(struct unwind_user_state *state,
		  const struct sframe_row *row,
		  struct unwind_user_frame *frame)
{
	unsigned int nr_words = SFRAME_FRE_WORDS(row->info), nr = 0;
	enum sframe_reason reason;
	s32 word;

	/* The CFA pair is required. */
	if (nr_words < 2)
		return SFRAME_REASON_ROW_WORDS;
	reason = sframe_get_cfa(state, row, &nr, &frame->cfa);
	if (reason)
		return reason;

	switch (nr_words - nr) {
	case 0:
		return SFRAME_REASON_NONE;
	case 3:
		if (!sframe_get_word(state, row, nr++, &word))
			return SFRAME_REASON_SECTION_FAULT;
		/* Padding is 0. */
		if (word)
			return SFRAME_REASON_ROW_WORDS;
		break;
	case 2:
	case 4:
		reason = sframe_get_rule(state, row, &nr, &frame->ra);
		if (reason)
			return reason;
		/* CFA + offset, not loaded, is a stack address, not code. */
		if (frame->ra.from == UNWIND_USER_FROM_CFA)
			return SFRAME_REASON_ROW_RULE;
		break;
	default:
		return SFRAME_REASON_ROW_WORDS;
	}

	return nr == nr_words ? SFRAME_REASON_NONE :
	       sframe_get_rule(state, row, &nr, &frame->fp);
}

static __always_inline enum sframe_reason
sframe_row_rules(struct unwind_user_state *state,
		 const struct sframe_func *func, const struct sframe_row *row,
		 struct unwind_user_frame *frame)
{
	/* No words: the return address is undefined, the stack ends here. */
	if (!SFRAME_FRE_WORDS(row->info)) {
		frame->kind = UNWIND_USER_FRAME_OUTERMOST;
		return SFRAME_REASON_NONE;
	}

	/* Machines that sign RAs strip them all; the others never set this. */
	if (!UNWIND_USER_SFRAME_SIGNS_RA && SFRAME_FRE_MANGLED_RA(row->info))
		return SFRAME_REASON_ROW_RULE;

	if (func->flex) {
		frame->kind = UNWIND_USER_FRAME_RULES;
		return sframe_flex_rules(state, row, frame);
	}
	return sframe_default_rules(state, row, frame);
}

/* Decode the rules of @ip into the walk's frame. Needs an access section. */
static __always_inline enum sframe_reason
sframe_decode(struct unwind_user_state *state,
	      const struct sframe_window *window, unsigned long ip,
	      struct sframe_func *func)
{
	struct unwind_user_frame *frame = &state->sframe.frame;
	const struct sframe_section *section = &window->section;
	enum sframe_reason reason;
	struct sframe_row row;
	u32 fre_off, off;

	reason = sframe_find_fde(state, window, ip, func, &fre_off);
	if (reason)
		return reason;
	reason = sframe_read_attr(state, section, fre_off, func);
	if (reason)
		return reason;

	sframe_init_frame(frame);
	/* The signal bit without rows means the kernel's signal frame. */
	if (func->signal && !func->nr_rows) {
		frame->kind = UNWIND_USER_FRAME_SIGNAL;
		return SFRAME_REASON_NONE;
	}

	off = ip - func->start;
	if (func->rep_size)
		off %= func->rep_size;
	reason = sframe_find_row(state, section, func, off, &row);
	if (reason)
		return reason;
	reason = sframe_row_rules(state, func, &row, frame);
	if (!reason && func->signal)
		sframe_signal_rules(frame);
	return reason;
}

/**
 * sframe_read - read the rules of an address, and the caller's registers
 * @state:	position of the walk; its sframe.frame is filled
 * @window:	window whose section is read
 * @ip:		address inside of its text
 * @func:	filled with the function of @ip
 * @caller:	filled, unless NULL
 *
 * A step reads table and stack in this one access section.
 *
 * Context: Any, with page faults disabled and nmi_uaccess_okay(); RCU.
 * Return: SFRAME_REASON_NONE, or why there is no frame.
 */
enum sframe_reason sframe_read(struct unwind_user_state *state,
			       const struct sframe_window *window,
			       unsigned long ip, struct sframe_func *func,
			       struct unwind_user_caller *caller)
{
	enum sframe_reason reason;

	unwind_user_access_begin();
	reason = sframe_decode(state, window, ip, func);
	if (!reason && caller)
		reason = sframe_read_stack(state, &state->sframe.frame, caller);
	user_read_access_end();
	return reason;
}

/* Empty all ranges, so that no address is in one. */
static void sframe_drop_ranges(struct sframe_walk *walk)
{
	unsigned int i;

	walk->length = 0;
	for (i = 0; i < SFRAME_KEPT_RANGES; i++)
		walk->kept[i].length = 0;
}

/* Look up the window of @ip. */
void sframe_find_window(struct sframe_walk *walk, unsigned long ip)
{
	/* The look-up sees all changes counted here (W1, sframe_changed()). */
	const u64 seq = smp_load_acquire(&walk->reg->seq);
	const u64 files_seq = sframe_read_files_seq();
	struct sframe_range range;

	if (seq != walk->seq || files_seq != walk->files_seq)
		sframe_drop_ranges(walk);
	walk->seq = seq;
	walk->files_seq = files_seq;
	walk->kept[walk->looks++ % SFRAME_KEPT_RANGES] =
		(struct sframe_kept_range){
			.window = walk->window,
			.first = walk->first,
			.length = walk->length,
			.bias = walk->bias,
		};

	range = sframe_lookup(walk->reg, ip);
	if (!range.window && sframe_has_files())
		sframe_file_lookup(&range, ip);
	walk->window = range.window;
	walk->first = range.first;
	walk->length = range.last - range.first + 1;
	walk->bias = range.bias;
}

/*
 * Did the data come from the window's section? If the registry changed during
 * the read, look @ip up again: a window that is still found was not changed.
 */
static bool sframe_still_there(struct sframe_walk *walk, unsigned long ip)
{
	const struct sframe_window *window = walk->window;

	if (sframe_unchanged(walk))
		return true;

	sframe_find_window(walk, ip);
	return walk->window == window;
}

static enum sframe_reason sframe_enter(struct unwind_user_state *state,
				       const struct unwind_user_frame *frame,
				       const struct unwind_user_caller *caller)
{
	enum sframe_reason reason;

	switch (frame->kind) {
	case UNWIND_USER_FRAME_PLAIN:
	case UNWIND_USER_FRAME_RULES:
		/* Charge the search of at most MAX_URETPROBE_DEPTH probes. */
		if (unlikely(state->ri))
			state->sframe.slack -= SFRAME_PROBE_READS;
		reason = unwind_user_enter(state, caller, frame->ra_copied);
		if (!reason)
			state->exact_ip = frame->exact;
		return reason;
	case UNWIND_USER_FRAME_SIGNAL:
		return unwind_user_enter_signal(state, caller);
	default:
		state->done = true;
		return SFRAME_REASON_NONE;
	}
}

/* Step by the table of the window that was looked up. */
static int sframe_step_table(struct unwind_user_state *state, unsigned long ip)
{
	struct unwind_user_caller caller __uninitialized;
	struct sframe_func func __uninitialized;
	struct sframe_walk *walk = &state->sframe;
	const struct sframe_window *window = walk->window;
	enum sframe_reason reason = sframe_charge(walk);

	if (reason)
		return unwind_user_refuse(state, reason);
	if (sframe_is_packed(window))
		reason = sframe_read_packed(state, window, ip, &caller);
	else
		reason = sframe_read(state, window, ip, &func, &caller);
	if (!sframe_still_there(walk, ip))
		return -EAGAIN;
	if (reason)
		return unwind_user_refuse(state, reason);
	if (walk->frame.kind == UNWIND_USER_FRAME_POINTER) {
		sframe_clock_stop(walk);
		return -ENOENT;
	}
	reason = sframe_enter(state, &walk->frame, &caller);
	return reason ? unwind_user_refuse(state, reason) : 0;
}

/* Find the window of @ip and step by it. */
static int sframe_step_window(struct unwind_user_state *state, unsigned long ip)
{
	struct sframe_walk *walk = &state->sframe;
	unsigned int tries;
	int ret;

	if (!sframe_have_range(walk, ip))
		sframe_find_window(walk, ip);

	/* If the window was replaced, retry once with its successor. */
	for (tries = 0; tries < 2; tries++) {
		if (!walk->window) {
			sframe_clock_stop(walk);
			return -ENOENT;
		}
		ret = sframe_step_table(state, ip);
		if (ret != -EAGAIN)
			return ret;
	}
	return unwind_user_refuse(state, SFRAME_REASON_CHANGED);
}

/**
 * sframe_step - step to the caller through a window
 * @state:	position of the walk, which is unchanged on failure
 *
 * Context: Any, with page faults and preemption disabled and
 * nmi_uaccess_okay(); in an RCU read-side critical section.
 * Return: 0, with state->done set at the outermost frame; -ENOENT to follow the
 * frame pointer; -EFAULT if the memory at state->fault is missing; -EINVAL if
 * the walk has to end here. If it ends, call sframe_refused().
 */
int sframe_step(struct unwind_user_state *state)
{
	struct sframe_walk *walk = &state->sframe;
	const int budget = walk->budget, slack = walk->slack;
	int ret;

	ret = sframe_step_window(state, sframe_lookup_ip(state));
	/* The step is repeated after the fault. Charge it only once. */
	if (unlikely(ret == -EFAULT)) {
		walk->budget = budget;
		walk->slack = slack;
	}
	return ret;
}

/**
 * sframe_refused - count why a walk ended
 * @state:	its last position
 */
void sframe_refused(struct unwind_user_state *state)
{
	struct sframe_counters *counters = &state->sframe.reg->counters;
	u64 *refused = &counters->refused[state->reason];

	WRITE_ONCE(*refused, READ_ONCE(*refused) + 1);
	WRITE_ONCE(counters->last_reason, state->reason);
	WRITE_ONCE(counters->last_ip, sframe_lookup_ip(state));
}

/**
 * sframe_fallback_refused - count why a walk ended outside of windows
 * @state:	its last position
 *
 * A complete frame pointer chain ends with a frame pointer or return address of
 * 0. The end of a back chain cannot be recognized, so it is not counted.
 */
void sframe_fallback_refused(struct unwind_user_state *state)
{
	if (!IS_ENABLED(CONFIG_HAVE_UNWIND_USER_FP) || !state->fp ||
	    state->reason == SFRAME_REASON_NO_CALLER)
		return;
	state->reason = SFRAME_REASON_FRAME_POINTER;
	sframe_refused(state);
}

/**
 * sframe_walk_init - let a walk use the windows of current
 * @state:	position of the walk, at its beginning
 * @frames:	maximum number of frames
 * @sample:	true if the walk runs in the context of a sample
 *
 * Return: false if there are no windows.
 */
bool sframe_walk_init(struct unwind_user_state *state, unsigned int frames,
		      bool sample)
{
	struct sframe_walk *walk = &state->sframe;

	/* Windows are for tasks with the kernel's word size. */
	if (state->ws != sizeof(long) || !sframe_mm_has_tables(current->mm))
		return false;

	walk->reg = sframe_registry_of(current->mm) ?: &sframe_no_windows;
	walk->seq = 0;
	walk->files_seq = 0;
	walk->looks = 0;
	sframe_drop_ranges(walk);
	walk->slack = SFRAME_INTERVAL;
	walk->budget = sframe_walk_budget(frames, sample);
	walk->deadline = sample ? local_clock() + sframe_walk_limit() : 0;
	return true;
}
