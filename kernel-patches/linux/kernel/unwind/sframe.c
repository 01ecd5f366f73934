// SPDX-License-Identifier: GPL-2.0
/*
 * One step of a walk through an SFrame window: find the window, decode the row
 * of the address, apply its rules.
 *
 * The section belongs to user space, which may have made it up and may change
 * it at any time. So a byte is read once, into a local variable, then checked,
 * then used. A section can make the walk of its own task fail or lie, and
 * nothing else.
 *
 * A step reads table and stack in one access section. Each address is masked on
 * its own, see user.h.
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

/* A row as it is stored; its words are at @words. */
struct sframe_row {
	unsigned long	words;
	u8		info;
};

/* The halves of structures that are read by one load. */
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
 * sframe_look - how much is left of a walk?
 * @walk:	the walk; has SFRAME_INTERVAL reads until the next look
 *
 * One clock read for so many, each of which may take long: pages that were never
 * used, or memory of a device.
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

/* Count a read. Functions, as that of the clock, are called outside. */
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

/* Begin a step through a window, which counts, and so does its time. */
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

		/* A sorted index has no entry outside of those around it. */
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

	/* A gap between functions, or an entry that was taken back. */
	func->start = bounds.lowest;
	func->size = rest.func_size;
	if (ip - func->start >= func->size)
		return SFRAME_REASON_NO_FDE;

	/* A function that begins or ends elsewhere is not of this window. */
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

/* Read the attributes of a function, in front of its rows. */
static __always_inline enum sframe_reason
sframe_read_attr(struct unwind_user_state *state,
		 const struct sframe_section *section, u32 fre_off,
		 struct sframe_func *func)
{
	unsigned long addr = section->fres + fre_off;
	union sframe_attr_head head;

	/* The rows of the function have to be in the section. */
	if (sizeof(struct sframe_fde_attr) > section->fres_end - section->fres ||
	    fre_off > section->fres_end - section->fres -
		      sizeof(struct sframe_fde_attr))
		return SFRAME_REASON_FRE_OFFSET;
	if (!sframe_get(state, &head.load, addr))
		return SFRAME_REASON_SECTION_FAULT;

	/*
	 * Bits of a later version may change what the rows mean. The key of
	 * signed return addresses is of machines that sign them.
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
 * The start of a row. If that is a byte, it is read with the info byte after it
 * by one load.
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
 * Bytes of the data words of a row, by their number and size in its info byte.
 * Words have 1, 2 or 4 bytes, and no rule needs more than seven of them.
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
 * Find the last row that starts at or before @off. Of the rows in front of it
 * only the head is read, which is its start and info byte. @fre_type is a
 * constant.
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

		/* The rows end where the section does. */
		if (pos + head > end)
			return SFRAME_REASON_FRE_OFFSET;
		if (!sframe_get_start(state, fre_type, pos, &start, &info))
			return SFRAME_REASON_SECTION_FAULT;

		/* Rows that go back or stand still have no meaning. */
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
	/* So do its words. */
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

/* Data word @nr of a row, with the sign of an offset. */
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

/* The offset of a CFA, which is scaled; false if it has more than 32 bits. */
static __always_inline bool sframe_scale_cfa(s32 *off)
{
	s64 scaled = (s64)*off * UNWIND_USER_SFRAME_CFA_SCALE -
		     UNWIND_USER_SFRAME_SP_OFF;

	*off = scaled;
	return *off == scaled;
}

/* Where no offset is fixed, that of the return address is word 1, if any. */
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

	/* An offset of 0 is there for the word after it only. */
	if (nr_words == 2)
		return SFRAME_REASON_ROW_WORDS;
	/* What is not on the stack is not plain. */
	frame->kind = UNWIND_USER_FRAME_RULES;
	return SFRAME_REASON_NONE;
}

/*
 * CFA = base + word 0. Behind it the offsets from there of the return address,
 * unless that is fixed, and of the frame pointer. A return address without an
 * offset, or with 0 in front of the frame pointer's, is in the link register.
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

	/* No word follows the frame pointer's. */
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
 * The (control, offset) pair at word *@nr of a FLEX row; the control word is
 * unsigned. *@nr moves on.
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
		/* Larger numbers would be cut off by the type of the field. */
		if (SFRAME_FLEX_REGNUM(ctrl) > U16_MAX)
			return SFRAME_REASON_ROW_REGISTER;
		sframe_set_register(rule, SFRAME_FLEX_REGNUM(ctrl), off);
	}
	if (ctrl & SFRAME_FLEX_DEREF_P)
		rule->from |= UNWIND_USER_DEREF;
	return ctrl & SFRAME_FLEX_RESERVED ? SFRAME_REASON_ROW_RULE :
					     SFRAME_REASON_NONE;
}

/* The CFA cannot start from itself. */
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
 * Rules for CFA, RA and FP in this order. A single word 0 in place of the RA
 * pair leaves the fixed offset and is there for the FP pair after it only.
 */
static __always_inline enum sframe_reason
sframe_flex_rules(struct unwind_user_state *state,
		  const struct sframe_row *row,
		  struct unwind_user_frame *frame)
{
	unsigned int nr_words = SFRAME_FRE_WORDS(row->info), nr = 0;
	enum sframe_reason reason;
	s32 word;

	/* The CFA has two words at least. */
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
		/* A stack address is no return address. */
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

	/* Signatures are taken off all return addresses, or there are none. */
	if (!UNWIND_USER_SFRAME_SIGNS_RA && SFRAME_FRE_MANGLED_RA(row->info))
		return SFRAME_REASON_ROW_RULE;

	if (func->flex) {
		frame->kind = UNWIND_USER_FRAME_RULES;
		return sframe_flex_rules(state, row, frame);
	}
	return sframe_default_rules(state, row, frame);
}

/* Fill the frame of the walk with the rules of @ip, in an access section. */
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
	/* What has no rows is a signal frame. */
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
 * @window:	with a section to be read
 * @ip:		address inside of its text
 * @func:	filled with the function of @ip
 * @caller:	filled, unless NULL
 *
 * This is the one access section of a step.
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

/* No address is in a range. */
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
	/* The look-up sees all changes before this. */
	const u64 seq = smp_load_acquire(&walk->reg->seq);
	struct sframe_range range;

	if (seq != walk->seq)
		sframe_drop_ranges(walk);
	walk->seq = seq;
	walk->kept[walk->looks++ % SFRAME_KEPT_RANGES] =
		(struct sframe_kept_range){
			.window = walk->window,
			.first = walk->first,
			.length = walk->length,
		};

	range = sframe_lookup(walk->reg, ip);
	walk->window = range.window;
	walk->first = range.first;
	walk->length = range.last - range.first + 1;
}

/*
 * Is what was read the section of the window? Windows may have been changed
 * meanwhile; this one was not if it is still found.
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
		/* The list of return probes, MAX_URETPROBE_DEPTH at most. */
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

	/* A replaced window has a successor: look again, once. */
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
 * @state:	position of the walk; as it was if this fails
 *
 * Context: Any, with page faults and preemption disabled and
 * nmi_uaccess_okay(); in an RCU read-side critical section.
 * Return: 0, with state->done set at the outermost frame; -ENOENT if the frame
 * pointer is to be followed; -EFAULT if memory is missing at state->fault;
 * -EINVAL if the walk has to end here. Call sframe_refused() if it does.
 */
int sframe_step(struct unwind_user_state *state)
{
	struct sframe_walk *walk = &state->sframe;
	const int budget = walk->budget, slack = walk->slack;
	int ret;

	ret = sframe_step_window(state, sframe_lookup_ip(state));
	/* A step that is repeated is paid for once. */
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
 * sframe_fallback_refused - count why a walk ended where no window is
 * @state:	its last position
 *
 * A chain of frame pointers ends with 0, or with a return address 0. Where back
 * chains do, cannot be told.
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
 * @frames:	how many there may be
 * @sample:	it is made in the context of a sample
 *
 * Return: false if there are none.
 */
bool sframe_walk_init(struct unwind_user_state *state, unsigned int frames,
		      bool sample)
{
	struct sframe_walk *walk = &state->sframe;
	u64 limit = sframe_walk_limit();

	/* Windows are for tasks with the kernel's word size. */
	if (state->ws != sizeof(long) || !limit ||
	    !sframe_mm_has_windows(current->mm))
		return false;

	walk->reg = sframe_registry_of(current->mm);
	walk->seq = 0;
	walk->looks = 0;
	sframe_drop_ranges(walk);
	walk->slack = SFRAME_INTERVAL;
	walk->budget = sframe_walk_budget(frames, sample);
	walk->deadline = sample ? local_clock() + limit : 0;
	return true;
}
